//go:build linux
package main
func measureKill(*bench) error{return nil}
func measureLogs(*bench) error{return nil}
func measureList(*bench) error{return nil}
func measureBinary(*bench) error{return nil}
func measureCrowd(*bench) error{return nil}
