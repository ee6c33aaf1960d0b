// Package test holds the tests of the whole: what packages may import, and what the real
// OpenTofu and Terraform see when they use a real server.
//
// The second kind needs both clients and has the build tag e2e; scripts/e2e.sh runs it.
// Its scripts stand in scripts/, as txtar archives that testscript runs, each once per
// client; those in scripts/attacks/ need no client and run once, each opening with the
// vulnerability, the scenario and the check. A script may use testscript's commands, the
// programs in $TF (the client that the run is about), $OTHER (the other one) and holdfast, the
// providers of both in the mirror $PROVIDERS, Terragrunt in $TERRAGRUNT, what workspaces call that client in $TOOL and
// $TOOL_VERSION, and these commands of ours:
//
//	organization NAME            add an organization with a key, and act for it
//	as NAME                      act for an organization that was added before
//	setting NAME=VALUE...        add settings of the organization to auth.cfg; before serve
//	key NAME FLAG...             add a key as `holdfast key add` does, and set $NAME to it
//	database [NAME]              set $DB_HOST and its like to an empty database, or skip where there is none;
//	                             then set $NAME to the name of one more on its server
//	service FOLDER               start a service of others, whose answers are the folder's files, at $SERVICE
//	serve [NAME=VALUE...]        start a server, with these settings, on a free port
//	server-stop                  stop it as an operator does, with SIGTERM
//	server-kill                  stop it as a power cut does, with SIGKILL
//	server-start                 start it again on the same address
//	backend PATH                 write backend.tf for the state at that path
//	expand FILE...               replace $NAME in files by the script's variables
//	http STATUS METHOD PATH [FILE]   send a request; its answer is then in stdout
//	await CONDITION              wait, within bounds, until "exists FILE", "grep PATTERN
//	                             FILE", "answer PATTERN PATH" or "http STATUS METHOD PATH"
//	                             holds
//	release NAME                 let a provisioner that runs "hold NAME" go on
//	capture NAME PATTERN         set $NAME to what the group in the pattern matches in stdout
//	certificate                  write cert.pem and key.pem, signed by a new authority whose
//	                             own certificate is then in $CA
//	issuer [rotate ID | down]    start an issuer of tokens; let it sign with a new key and
//	                             forget the old one; let it answer nothing but errors
//	token [CLAIM=VALUE...]       set $TOKEN to a token of it, good but for these claims
//	lose-answers                 put a proxy before the server that loses answers
//	raw STATUS... FILE           send what is in the file as it is, with CRLF at the ends of
//	                             lines, $NAME and Go's escapes (\x00) replaced; want answers
//	                             with these statuses, which are then in stdout
//	bomb STATUS NAME [TEXT]      send a request that is meant to be costly, several at once,
//	                             while an honest client must be answered; bombs_test.go
//	memory MIB                   want that the server never had more memory than this
//	slow COUNT FILE              as raw, so many times, followed by a byte now and again
//	example PAGE HEADING         make the files and run the commands under a heading of a page
//	                             of ours, and want the output that the page shows
//	repository FOLDER [CHANGE]   serve what is in the folder as a git repository's branch main, and what is in
//	                             the other one as its pull request 7 at a forge that speaks as GitHub does
//	page PAGE [RULES]            run all commands of a page of ours, but for what the rules in
//	                             a file say, with the files that it names; what it shows as a table has to have
//	                             these columns; page_test.go
//	stream PATH [UNTIL]          read a stream of a run over a WebSocket to its end, or break it
//	                             off behind so many pieces of its log, or behind a status
//	hung-up                      wait until the server hung up on all who are slow
//
// They set $SERVER, $SERVER_PID, $ORG, $KEY, $ISSUER, $GIT, $GIT_CA and $FORGE, and $HOLDFAST_ADDR and $HOLDFAST_KEY
// for holdfast.
// The server logs to $WORK/server.log and keeps its state in $WORK/data, its keys in
// $WORK/auth.cfg. When a script ends, its server must stop cleanly and leave its port free.
//
// provider_test.go is beside the scripts: a thousand uploads at once, of what several
// providers report, to a server with both engines. guessing_test.go has wrong keys sent
// at full speed, and says how long those with good keys wait meanwhile. neighbour_test.go
// has one organization send 50 times what it may, beside another that keeps to its limit.
package test
