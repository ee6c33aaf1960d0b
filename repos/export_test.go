package repos

// Flying is how many repositories are being fetched.
func (s *Service) Flying() int {
	n, _ := s.inFlight()
	return n
}

// Waiting is how many fetches wait behind those that go on.
func (s *Service) Waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.flights {
		if f.next != nil {
			n++
		}
	}
	return n
}
