// Package script holds the end-to-end tests of the command line: each file in
// testdata is a script of commands and what they must say, and each must leave
// nothing behind.
package script
