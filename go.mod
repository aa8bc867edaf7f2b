module muster.dev/muster

go 1.25.0
