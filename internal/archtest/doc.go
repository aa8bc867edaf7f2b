// Package archtest holds the architecture: who may import whom, which packages
// are pure, which dependency stays behind which fence, how big a file may be, how
// long a package may take to start. A test that fails prints the rule and its
// reason. To break a rule, change it here, in the same commit, with the reason.
package archtest
