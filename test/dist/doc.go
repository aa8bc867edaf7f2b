// Package dist checks what is released: it makes all archives and packages and
// looks at them as those who install them do.
package dist
