package jsonscan

// literal scans the word at i.
func (s *scanner) literal(i int, word string) int {
	end := i + len(word)
	if end > len(s.data) || string(s.data[i:end]) != word {
		return s.fail(i, badLiteral)
	}
	return end
}

// number scans the number at i. What follows it is the caller's affair: in 01 the zero is
// a number, and the one stands where a comma should.
func (s *scanner) number(i int) int {
	data := s.data
	if data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return i
	}
	if i < len(data) && data[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return i
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		i = s.digits(i)
	}
	return i
}

// digits scans one digit or more.
func (s *scanner) digits(i int) int {
	start := i
	for i < len(s.data) && s.data[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return s.fail(i, "a digit should be here")
	}
	return i
}
