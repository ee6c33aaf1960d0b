package test

// The scenarios of TestFairness, by what is shared in them.
const (
	readersOfLists  = "readers of lists"
	theWriter       = "the writer"
	turnsOfReadings = "turns of readings"
	histories       = "turns of histories"
	bodies          = "memory for bodies"
	places          = "places of requests"
	theIndex        = "the index of resources"
	backlog         = "the backlog of a dual store"
	notices         = "notices"
	files           = "files of uploads"
	theDisk         = "the disk"
	connections     = "connections"
)

// Why something that is bounded needs no scenario.
const (
	ofOne      = "one organization's, or one caller's, own"
	inOrder    = "hands over between goroutines of the server; nobody's request waits for it"
	atStart    = "used before anything is served, or by commands"
	ofOperator = "filled by what the operator's file names or the operator asks, not by what organizations send"
	limited    = "an address that fills it with what is no good is soon not let through: handlers/issuer_test.go"
	claimed    = "runs are claimed in turns of organizations, which runs/runstest holds every store to"
	refused    = "who asks for more than a part is refused at once, and the rest stays for others: handlers/follow_test.go"
	byTurns    = "a part of them is left to others, whatever one asks for: storage/mysqlstates/turns_test.go"
	byFetches  = "an organization has at most half of the workers: repos/service_test.go"
	bySweeps   = "a sweep of layers takes a minute of an organization at most: layers/stuck_test.go"
	byHooks    = "an organization has at most a quarter of the places, an address half of these: handlers/webhooks.go"
	byInsight  = "a place is left to others, whatever one asks for: insight/service_test.go"
	byOutside  = "an organization has at most a quarter of the places, and nobody waits for one: runs/outside.go"
	byPlaces   = "held for one page or one batch, by no more requests of an organization than have places"
)

// scenarioNames are those that TestFairness must have.
func scenarioNames() []string {
	return []string{readersOfLists, theWriter, turnsOfReadings, histories, bodies, places, theIndex, backlog, notices,
		files, theDisk, connections}
}

// sharedThings lists what is bounded in the server, by package and code, with the scenario in
// which an organization does its worst to it, or the reason why there is none.
func sharedThings() map[string]string {
	return map[string]string{
		"cmd/holdfast: make(chan os.Signal, 2)":                                    atStart,
		"enclave/reconcile: make(chan struct{}, width)":                            atStart,
		"runs/changes: make(chan *batch, 2)":                                       ofOne,
		"runs/changes: make(chan outcome, 1)":                                      ofOne,
		"layers: make(chan struct{}, together)":                                    bySweeps,
		"layers/relevance: group.SetLimit(runtime.GOMAXPROCS(0))":                  ofOne,
		"engine/apply: make(chan error, 1)":                                        atStart,
		"engine/apply: make(chan struct{}, r.options.Parallelism)":                 atStart,
		"agent: make(chan summary, 1)":                                             inOrder,
		"agent: make(chan bool, 1)":                                                inOrder,
		"handlers: turns.New(maxStreams, maxOwnStreams)":                           refused,
		"handlers: turns.New(maxWaits, maxOwnWaits)":                               refused,
		"agent: make(chan *api.PhaseReport, 1)":                                    inOrder,
		"agent: make(chan result, 1)":                                              inOrder,
		"agent: make(chan int, s.Slots)":                                           claimed,
		"agent: make(chan struct{}, 1)":                                            inOrder,
		"live: make(chan struct{}, 1)":                                             inOrder,
		"live: turns.New(d.All, d.Own)":                                            refused,
		"auth/copies: make(chan struct{}, 1)":                                      inOrder,
		"server: make(chan struct{}, 1)":                                           inOrder,
		"storage/sqlitedb: make(chan error, 1)":                                    ofOne,
		"server: make(chan error, 1)":                                              inOrder,
		"cmd/holdfast: make(chan string, 1)":                                       atStart,
		"cmd/holdfast: group.SetLimit(uploads)":                                    atStart,
		"internal/fair: make(chan struct{}, 1)":                                    inOrder,
		"repos: turns.New(d.Limits.Workers, max(d.Limits.Workers/2, 1))":           byFetches,
		"repos: make(chan error, 1)":                                               ofOne,
		"repos: make(chan struct{}, 1)":                                            inOrder,
		"repos/gitmirror: make(chan struct{}, 1)":                                  ofOne,
		"handlers: turns.New(maxDeliveries, maxOwnDeliveries)":                     byHooks,
		"handlers: turns.New(math.MaxInt, maxSentAtOnce)":                          byHooks,
		"insight: turns.New(maxWorking, maxOwn)":                                   byInsight,
		"insight/policy: turns.New(maxCompiling, maxOwn)":                          byInsight,
		"insight: turns.New(maxModelling, maxOwn)":                                 byInsight,
		"runs: turns.New(maxAsking, maxOwnAsking)":                                 byOutside,
		"inventory: turns.New(maxReadings, maxOwnReadings)":                        turnsOfReadings,
		"middleware: budget.New(bytes, \"bytes of bodies are in memory\")":         bodies,
		"middleware: budget.New(int64(l.Begun), \"requests have begun\")":          connections,
		"middleware: budget.New(int64(l.InFlight), \"requests are in flight\")":    places,
		"middleware: turns.New(lookups, 1)":                                        places,
		"internal/webhook: make(chan shredded, 1)":                                 inOrder,
		"server: make(chan struct{}, operatorAnswers)":                             ofOperator,
		"internal/webhook: make(chan attempt, posting)":                            notices,
		"agent/shim: make(chan os.Signal, 1)":                                      ofOne,
		"agent/shim: make(chan syscall.WaitStatus, 1)":                             ofOne,
		"agent/sandbox: make(chan os.Signal, 1)":                                   ofOne,
		"oidc: make(chan struct{}, maxFetches)":                                    ofOperator,
		"resources: make(chan struct{}, 1)":                                        theIndex,
		"resources: turns.New(maxReadings, maxOwnReadings)":                        histories,
		"resources: make(turn, 1)":                                                 theIndex,
		"enclave/local: make(chan struct{}, 1)":                                    inOrder,
		"seal: make(chan struct{}, 1)":                                             ofOne,
		"state: group.SetLimit(purgesAtOnce)":                                      theWriter,
		"storage/csv/index: readers.SetMaxOpenConns(readConnections)":              turnsOfReadings,
		"storage/csv: make(chan struct{}, 1)":                                      inOrder,
		"storage/csv: turns.New(reads, max(reads/4, 1))":                           turnsOfReadings,
		"storage/csv: make(slots, n)":                                              files,
		"storage/dual: make(chan []outcome, 1)":                                    inOrder,
		"storage/dual: make(chan error, 1)":                                        inOrder,
		"storage/dual: make(chan struct{}, 1)":                                     ofOne,
		"storage/dual: make(chan struct{}, 4)":                                     backlog,
		"storage/dual: o.readers.SetMaxOpenConns(readConnections)":                 backlog,
		"storage/mysql: turns.New(places, max(places/2, 1))":                       byPlaces,
		"storage/mysqlstates: turns.New(n, max(n*3/4, 1))":                         byTurns,
		"storage/mysqlstates: make(chan struct{}, 1)":                              inOrder,
		"storage/mysqldb: db.SetMaxOpenConns(o.MaxOpenConns)":                      byPlaces,
		"storage/resourceindex: db.SetMaxOpenConns(connections)":                   theIndex,
		"storage/resourceindex: turns.New(finderConnections, finderConnections/2)": theIndex,
		"storage/resourceindex: turns.New(1, 1)":                                   theIndex,
		"storage/sqldb: e.readers.SetMaxOpenConns(sqliteReaders)":                  byPlaces,
		"storage/sqldb: turns.New(places, max(places/2, 1))":                       byPlaces,
		"storage/sqlite: make(chan error, 1)":                                      inOrder,
		"storage/sqlite: make(chan *reader, listerCount)":                          readersOfLists,
		"storage/sqlite: make(chan *reader, readerCount)":                          bodies,
		"storage/stateengine: turns.New(detachers, 1)":                             theWriter,
		"storage/stateengine: turns.New(processors, max(processors-1, 1))":         theWriter,
		"storage/stateengine: make(chan struct{}, 1)":                              inOrder,
		"storage/sqlite: turns.New(bodyCount, bodiesEach)":                         bodies,
		"storage/sqlite: turns.New(listerCount, listsEach)":                        readersOfLists,
		"storage/sqlitedb: fair.NewInbox[*job]()":                                  theWriter,
		"storage/sqlitedb: db.SetMaxOpenConns(1)":                                  atStart,
		"oidc: make(chan struct{}, maxTrades)":                                     limited,
	}
}
