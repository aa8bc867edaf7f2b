package sqlite

import "syscall"

// KindOf returns the kind of the file system that path is on; Local when the
// kernel does not say.
func KindOf(path string) Kind {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return Local
	}
	return FileSystemKind(int64(s.Type))
}
