package agent

// ExecutesInInit is executesInInit, for tests.
var ExecutesInInit = executesInInit
