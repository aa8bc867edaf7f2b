package snapshot

import (
	"io/fs"
	"os"
	"syscall"
)

// local are the file systems, by the number that statfs has for them, on which
// what the kernel says of a file is always so.
var local = map[uint32]string{
	0xef53:     "ext4",
	0x58465342: "xfs",
	0x9123683e: "btrfs",
	0x01021994: "tmpfs",
	0x794c7630: "overlay",
	0x2fc12fc1: "zfs",
	0xf2f52010: "f2fs",
	0xca451a4e: "bcachefs",
}

// localDev returns the device of a folder on such a file system, or 0. On
// others, such as NFS, the times of a file may be those of a minute ago, until
// it is opened: an edit made on another machine must not be missed.
func localDev(dir string) uint64 {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || local[uint32(fs.Type)] == "" {
		return 0
	}
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	return stampOf(info).Dev
}

// stampOf returns the stamp of a file.
func stampOf(info fs.FileInfo) stamp {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
}
