package problem

// Nearest returns the name closest to word, or "" when none is close enough to
// be a likely slip of the finger.
func Nearest(word string, names []string) string {
	best, at := "", max(1, len(word)/3)+1
	for _, n := range names {
		if d := distance(word, n); d < at {
			best, at = n, d
		}
	}
	return best
}

// distance counts the edits between a and b; two swapped neighbours count as one.
func distance(a, b string) int {
	prev2, prev := []int(nil), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, cur
	}
	return prev[len(b)]
}
