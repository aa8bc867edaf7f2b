package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// printTo writes each line with one system call, as a program that flushes.
func printTo(w io.Writer) func(string) (action, error) {
	return func(value string) (action, error) {
		text, n := textCount(value)
		return func(t *trainer) error {
			line := []byte(expand(text) + "\n")
			for range n {
				if _, err := w.Write(line); err != nil {
					return err
				}
				time.Sleep(t.pause)
			}
			return nil
		}, nil
	}
}

func partial(value string) (action, error) {
	return func(*trainer) error {
		_, err := os.Stdout.WriteString(expand(value))
		return err
	}, nil
}

func rate(value string) (action, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return nil, errors.New("want lines a second, at least 1")
	}
	return func(t *trainer) error { t.pause = time.Second / time.Duration(n); return nil }, nil
}

// bytesTo lets a checker recompute what a task wrote: trainer bytes=N,worker-3
// writes the same anywhere.
func bytesTo(w io.Writer) func(string) (action, error) {
	return func(value string) (action, error) {
		count, name, _ := strings.Cut(value, ",")
		n, err := size(count)
		return func(t *trainer) error {
			seed := name
			if seed == "" {
				seed = t.task
			}
			return writeLines(w, n, expand(seed), t.pause)
		}, err
	}
}

// lineLength counts the newline.
const lineLength = 80

// writeLines writes n bytes of printable lines, the last byte a newline. With a
// pause each line is written by itself, otherwise many at once.
func writeLines(w io.Writer, n int64, seed string, pause time.Duration) error {
	h := fnv.New64a()
	h.Write([]byte(seed))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	chunk := 64 << 10 / lineLength * lineLength
	if pause > 0 {
		chunk = lineLength
	}
	buf := make([]byte, 0, chunk)
	for left := n; left > 0; {
		buf = appendLine(buf, r, int(min(left, lineLength)))
		left -= min(left, lineLength)
		if len(buf) < chunk && left > 0 {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
		time.Sleep(pause)
	}
	return nil
}

func appendLine(buf []byte, r *rand.Rand, n int) []byte {
	for range n - 1 {
		buf = append(buf, byte('!'+r.IntN('~'-'!'+1)))
	}
	return append(buf, '\n')
}

func progress(value string) (action, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return nil, errors.New("want a number of steps")
	}
	return func(t *trainer) error {
		for i := range n + 1 {
			bar := strings.Repeat("#", 10*i/n)
			if _, err := fmt.Fprintf(os.Stderr, "\r%3d%%|%-10s| %d/%d", 100*i/n, bar, i, n); err != nil {
				return err
			}
			time.Sleep(t.pause)
		}
		_, err := fmt.Fprintln(os.Stderr)
		return err
	}, nil
}

func printEnv(value string) (action, error) {
	return func(*trainer) error {
		prefix, many := strings.CutSuffix(value, "*")
		if _, ok := os.LookupEnv(value); !ok && !many {
			_, err := fmt.Println(value, "is not set")
			return err
		}
		for _, v := range slices.Sorted(slices.Values(os.Environ())) {
			if name, _, _ := strings.Cut(v, "="); name == value || many && strings.HasPrefix(name, prefix) {
				if _, err := fmt.Println(v); err != nil {
					return err
				}
			}
		}
		return nil
	}, nil
}

func printCwd(*trainer) error {
	dir, err := os.Getwd()
	if err == nil {
		_, err = fmt.Println(dir)
	}
	return err
}
