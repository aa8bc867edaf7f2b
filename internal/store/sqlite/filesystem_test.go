package sqlite

import (
	"path/filepath"
	"testing"
)

func TestFileSystemKind(t *testing.T) {
	for _, c := range []struct {
		name  string
		magic int64
		want  Kind
	}{
		{"ext4", 0xef53, Local},
		{"xfs", 0x58465342, Local},
		{"btrfs", 0x9123683e, Local},
		{"tmpfs", 0x01021994, Local},
		{"overlay", 0x794c7630, Local},
		{"zfs", 0x2fc12fc1, Local},
		{"nothing known", 0, Local},
		{"nfs", 0x6969, Network},
		{"smb", 0x517b, Network},
		{"cifs", 0xff534d42, Network},
		{"cifs in a signed field of 32 bits", -0xacb2be, Network},
		{"smb2", 0xfe534d42, Network},
		{"9p", 0x01021997, Network},
		{"fuse, as sshfs is", 0x65735546, Network},
		{"lustre", 0x0bd00bd0, Network},
		{"ceph", 0x00c36400, Network},
		{"gpfs", 0x47504653, Network},
		{"beegfs", 0x19830326, Network},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := FileSystemKind(c.magic); got != c.want {
				t.Errorf("%#x is %s, want %s", c.magic, got, c.want)
			}
		})
	}
}

func TestKindOfAPathThatIsNotThere(t *testing.T) {
	if got := KindOf(filepath.Join(t.TempDir(), "none")); got != Local {
		t.Errorf("got %s", got)
	}
}
