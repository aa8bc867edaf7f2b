package sqlite

// A Kind is what a file system means for locks and shared memory.
type Kind string

// The kinds.
const (
	Local   Kind = "local"   // one kernel sees every user of the file
	Network Kind = "network" // other machines may use the file too
)

// network has the magic numbers of file systems that machines share, as Linux
// gives them. FUSE is among them: it may be sshfs, and does not say.
var network = map[uint32]string{
	0x00006969: "nfs",
	0x0000517b: "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x01021997: "9p",
	0x65735546: "fuse",
	0x0bd00bd0: "lustre",
	0x00c36400: "ceph",
	0x5346414f: "afs",
	0x6b414653: "kafs",
	0x73757245: "coda",
	0x47504653: "gpfs",
	0x19830326: "beegfs",
	0x20030528: "orangefs",
	0xaad7aaea: "panfs",
	0x01161970: "gfs2",
	0x7461636f: "ocfs2",
	0x786f4256: "vboxsf",
}

// FileSystemKind returns the kind of the file system with this magic number.
// Numbers that are not known count as local.
func FileSystemKind(magic int64) Kind {
	// Where the field is 32 bits wide, large numbers arrive as negative ones.
	if _, ok := network[uint32(magic)]; ok {
		return Network
	}
	return Local
}
