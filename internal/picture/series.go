package picture

import (
	"fmt"
	"strings"
)

// columns is how many columns a picture has at most: steps are drawn one by one in a short run, and
// of a long one as averages over as many as make a column.
const columns = 512

// A series is a number over time. It keeps a sum for each column, so that it takes the same room
// for a run of any length, and takes values in any order of time.
type series struct {
	width int64 // steps of a column
	sums  [columns]int64
}

// add adds a value from one time to another.
func (s *series) add(from, to, value int64) {
	if s.width == 0 {
		s.width = 1
	}
	for to > s.width*columns {
		s.widen()
	}
	for at := from; at < to; {
		i := at / s.width
		end := min(to, (i+1)*s.width)
		s.sums[i] += value * (end - at)
		at = end
	}
}

// widen makes the columns twice as wide.
func (s *series) widen() {
	for i := range columns / 2 {
		s.sums[i] = s.sums[2*i] + s.sums[2*i+1]
	}
	clear(s.sums[columns/2:])
	s.width *= 2
}

// over returns the sums of columns of a width that is no less than the series' own.
func (s *series) over(width int64) *series {
	for s.width < width {
		if s.width == 0 {
			s.width = 1
			continue
		}
		s.widen()
	}
	return s
}

// widthFor returns the width of columns for a run of so many steps.
func widthFor(steps int64) int64 {
	w := int64(1)
	for steps > w*columns {
		w *= 2
	}
	return w
}

// area draws heights over time as stairs above a base line: from lower to lower plus height in each
// column.
func area(lower, height []int, base int) string {
	var b strings.Builder
	for i := 0; i < len(height); {
		if height[i] == 0 {
			i++
			continue
		}
		// The upper edge from left to right, and the lower one back.
		fmt.Fprintf(&b, "M%d %d", i, base-lower[i])
		var back []string
		for i < len(height) && height[i] != 0 {
			from := i
			for i < len(height) && height[i] == height[from] && lower[i] == lower[from] {
				i++
			}
			fmt.Fprintf(&b, "V%dH%d", base-lower[from]-height[from], i)
			back = append(back, fmt.Sprintf("V%dH%d", base-lower[from], from))
		}
		for k := len(back) - 1; k >= 0; k-- {
			b.WriteString(back[k])
		}
		b.WriteByte('z')
	}
	return b.String()
}
