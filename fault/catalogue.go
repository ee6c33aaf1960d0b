package fault

import "slices"

// Code is the stable name of a fault: clients may compare it, so it never changes.
type Code string

// The codes. Catalogue has their meaning; docs/api.md carries the same table.
const (
	InternalError       Code = "internal"
	StateCorrupt        Code = "state_corrupt"
	StateRewound        Code = "state_rewound"
	StateNotFound       Code = "state_not_found"
	VersionPurged       Code = "version_purged"
	VersionNotFound     Code = "version_not_found"
	SerialTooOld        Code = "serial_too_old"
	NewestKept          Code = "newest_version_kept"
	OutputNotFound      Code = "output_not_found"
	CandidateNotFound   Code = "candidate_not_found"
	CandidateSettled    Code = "candidate_settled"
	CandidateStale      Code = "candidate_stale"
	ImportTooOld        Code = "import_too_old"
	CandidatesFull      Code = "candidates_full"
	StateExists         Code = "state_exists"
	ResourceNotFound    Code = "resource_not_found"
	WriteHeld           Code = "write_held"
	LockIDUsed          Code = "lock_id_used"
	LockRequired        Code = "lock_required"
	BytesPurged         Code = "bytes_purged"
	ConditionInvalid    Code = "precondition_invalid"
	ConditionFailed     Code = "precondition_failed"
	ReasonMissing       Code = "reason_missing"
	NameInvalid         Code = "name_invalid"
	AliasUnknown        Code = "alias_unknown"
	BodyUnreadable      Code = "body_unreadable"
	BodyTooLarge        Code = "body_too_large"
	StateInvalid        Code = "state_invalid"
	DigestMismatch      Code = "digest_mismatch"
	LockInvalid         Code = "lock_invalid"
	LockHeld            Code = "lock_held"
	LockNotHeld         Code = "lock_not_held"
	LockMismatch        Code = "lock_mismatch"
	ParameterInvalid    Code = "parameter_invalid"
	CredentialsNeeded   Code = "credentials_needed"
	CredentialsWrong    Code = "credentials_wrong"
	KeyExpired          Code = "key_expired"
	CredentialsRevoked  Code = "credentials_revoked"
	SessionOver         Code = "session_over"
	SessionNotFound     Code = "session_not_found"
	CrossOrigin         Code = "cross_origin"
	SignedInAsOther     Code = "signed_in_as_other"
	SignInStale         Code = "sign_in_stale"
	SignInOff           Code = "sign_in_off"
	KeyInvalid          Code = "key_invalid"
	KeyBeyond           Code = "key_beyond_own"
	KeyNotFound         Code = "key_not_found"
	KeysFull            Code = "keys_full"
	KeyLast             Code = "key_last"
	KeysReadOnly        Code = "keys_read_only"
	KeysNotTaken        Code = "keys_not_taken"
	SettingInvalid      Code = "setting_invalid"
	SettingsChanged     Code = "settings_changed"
	TokenRefused        Code = "token_refused"
	IssuerUnavailable   Code = "issuer_unavailable"
	AddressRefused      Code = "address_refused"
	RightMissing        Code = "right_missing"
	RunReadOnly         Code = "run_read_only"
	StateInternal       Code = "state_internal"
	RunFenced           Code = "run_fenced"
	PinGone             Code = "pinned_version_gone"
	RateLimited         Code = "rate_limited"
	TooManyFailures     Code = "too_many_failures"
	TooManyWaiting      Code = "too_many_waiting"
	Overloaded          Code = "overloaded"
	BodyTooSlow         Code = "body_too_slow"
	RouteUnknown        Code = "route_unknown"
	MethodUnknown       Code = "method_not_allowed"
	GzipDamaged         Code = "gzip_damaged"
	UploadMalformed     Code = "upload_malformed"
	UploadInvalid       Code = "upload_invalid"
	MediaUnsupported    Code = "media_unsupported"
	IdempotencyInvalid  Code = "idempotency_key_invalid"
	IdempotencyMismatch Code = "idempotency_key_reused"
	CursorInvalid       Code = "cursor_invalid"
	QueryTooWide        Code = "query_too_wide"
	StateEncrypted      Code = "state_encrypted"
	StateUnsupported    Code = "state_format_unsupported"
	PlanFileInvalid     Code = "plan_file_invalid"
	PlanFileTooLarge    Code = "plan_file_too_large"
	PlanEncrypted       Code = "plan_encrypted"
	PlanCredentials     Code = "plan_credentials"
	PlanBackendMismatch Code = "plan_mismatch_backend"
	PlanStateMismatch   Code = "plan_mismatch_state"
	PlanConfigMismatch  Code = "plan_mismatch_config"
	PlanLockMismatch    Code = "plan_mismatch_lock_file"
	PlanToolMismatch    Code = "plan_mismatch_tool"
	PlanChangesMismatch Code = "plan_mismatch_changes"
	PlanJSONInvalid     Code = "plan_json_invalid"
	PlanJSONTooLarge    Code = "plan_json_too_large"
	UploadsOff          Code = "uploads_off"
	Busy                Code = "busy"
	ChangedMeanwhile    Code = "changed_meanwhile"
	Interrupted         Code = "interrupted"
	StoreUnavailable    Code = "store_unavailable"
	StoreFull           Code = "store_full"
	QuotaExceeded       Code = "quota_exceeded"
	BacklogFull         Code = "backlog_full"
	StoreCorrupt        Code = "store_corrupt"
	StoreDegraded       Code = "store_degraded"
	SealCorrupt         Code = "seal_corrupt"
	SealKeyMissing      Code = "seal_key_missing"

	ToolConstraintInvalid Code = "tool_constraint_invalid"
	ToolUnavailable       Code = "tool_unavailable"
	ToolMismatch          Code = "tool_mismatch"
	ToolExists            Code = "tool_exists"
	ToolUntrusted         Code = "tool_untrusted"
	ToolMirrorUnavailable Code = "tool_mirror_unavailable"
	ToolChanged           Code = "tool_changed"
)

// Entry is one line of the catalogue.
type Entry struct {
	Code Code
	Kind Kind
	// Meaning says what happened and what the caller can do about it.
	Meaning string
}

// Catalogue returns every code with its kind and meaning, in the order of the API page.
func Catalogue() []Entry {
	entries := []Entry{
		{NameInvalid, Invalid, "The state's name breaks a rule; the message says which. Names are 1 to 255 characters: " +
			"segments of letters, digits and `. _ - ~`, joined by `/`."},
		{SerialTooOld, Invalid, "None of the state's newest 10,000 versions has the serial; ask for an older one by " +
			"its number."},
		{ParameterInvalid, Invalid,
			"A query parameter is unknown, comes twice, or has a value that makes no sense, such as an empty `ID`."},
		{BodyUnreadable, Invalid,
			"The connection broke off before the whole body arrived. Nothing was stored; send it again."},
		{BodyTooSlow, Timeout, "The body arrived too slowly, or not at all. Nothing was stored; send it again."},
		{StateInvalid, Invalid, "The body is not one JSON object, or its `serial` or `lineage` is not what a state has. " +
			"Nothing was stored."},
		{DigestMismatch, Invalid,
			"The body does not match its `Content-MD5`: it was damaged on the way. Nothing was stored; send it again."},
		{GzipDamaged, Invalid, "The body came with `Content-Encoding: gzip`, but is not whole gzip: it is damaged or cut " +
			"off, or something follows it. Nothing was stored."},
		{UploadMalformed, Invalid,
			"The upload is not one JSON object in strict UTF-8, or is nested or branched beyond the limits; `details` says " +
				"where. Nothing was stored."},
		{UploadInvalid, Invalid,
			"The upload breaks rules; `details` lists them, each with a JSON Pointer. Nothing was stored."},
		{IdempotencyInvalid, Invalid, "The `Idempotency-Key` is not 1 to 255 visible ASCII characters."},
		{PlanFileInvalid, Invalid,
			"The bytes are not a plan file as OpenTofu and Terraform write it; the message says what is wrong with them. " +
				"Nothing was stored."},
		{PlanJSONInvalid, Invalid,
			"The bytes are not what `show -json` prints of a plan; the message says where they differ. Nothing was stored."},
		{CursorInvalid, Invalid, "The `cursor` is not one that this server gave for this organization and order."},
		{KeyInvalid, Invalid, "There can't be such a key; the message says why. Nothing was changed."},
		{SettingInvalid, Invalid,
			"The organization has no such setting that can be changed here, or it can't have that value; the message says " +
				"which. Nothing was changed."},
		{LockInvalid, Invalid, "The body is not a LockInfo: a JSON object with an `ID` of 1 to 255 characters and, if " +
			"present, a `Created` in RFC 3339."},
		{ConditionInvalid, Invalid,
			"The `If-Match` or `If-None-Match` is neither `*` nor a list of tags, each in quotes as `ETag` has it. " +
				"Nothing was done."},
		{ReasonMissing, Invalid, "This needs a `reason`, of 1 to 1,000 characters: it is recorded."},
		{LockMismatch, Invalid, "UNLOCK with an ID that does not hold the lock. The body's `lock` shows the holder."},
		{CredentialsNeeded, Unauthenticated,
			"No credentials. Send HTTP Basic with a key as password (and the organization's UUID as user name, where the key " +
				"does not carry it), `X-Org-ID` and `X-API-Key`, or a Bearer key."},
		{CredentialsWrong, Unauthenticated, "The organization or the key is wrong, or the key was revoked."},
		{KeyExpired, Unauthenticated, "The key was good until the time that the message names. Use a new one."},
		{CredentialsRevoked, Unauthenticated,
			"The credentials were good when the request began, and were taken back before all of its body had arrived. " +
				"Nothing was stored."},
		{SessionOver, Unauthenticated, "The session is over, or its key or rule counts no more. Sign in again."},
		{SignInStale, Unauthenticated,
			"The sign-in with an issuer took too long, was used already, or began in another browser. Begin again."},
		{TokenRefused, Unauthenticated,
			"The token is not one that the organization accepts; the message says which of its claims, or that its signature " +
				"or time, is wrong."},
		{AddressRefused, Forbidden, "The key is good, but not from the address that the request came from."},
		{CrossOrigin, Forbidden,
			"The request came with a session's cookie, but its `Sec-Fetch-Site` or `Origin` says that another site's page " +
				"sent it, or does not say where it is from. Nothing was done. Programs send a key."},
		{SignedInAsOther, Forbidden,
			"The request came with a session's cookie and names in `Holdfast-Signed-In` whom its page shows, and by now the " +
				"browser is signed in as another one. Nothing was done. Load the page anew."},
		{AliasUnknown, Forbidden,
			"The project, owner or tenant in the address is none of the names that the `alias` lines of the organization's " +
				"section in `auth.cfg` have. Whether another organization goes by it, nobody learns."},
		{NewestKept, Forbidden, "At this server's address for it the newest version can't be deleted. `holdfast` and the " +
			"native address can purge it."},
		{KeyBeyond, Forbidden,
			"The key is, or would be, good for more than what the caller has come in with: more rights, " +
				"more states, for longer or from more addresses. Nothing was changed."},
		{RightMissing, Forbidden,
			"The key lacks the right that the message names: its role does not have it, or not on this state."},
		{RunReadOnly, Forbidden,
			"The token is of a run that plans: it reads the one version that the plan is pinned to, and may do nothing else. " +
				"Nothing was stored; run the client with `-lock=false`."},
		{StateInternal, Forbidden,
			"The state, or what would be shown of it, is for its runs alone: `state_access` in `auth.cfg` says so of it. People " +
				"see names, versions, and what changes, without values."},
		{StateNotFound, NotFound, "There is no state of this name in your organization."},
		{VersionNotFound, NotFound,
			"The state has no version of this number: it was never written, or retention removed it."},
		{OutputNotFound, NotFound, "The state has no output of this name."},
		{CandidateNotFound, NotFound, "The state has no candidate of this ID."},
		{KeyNotFound, NotFound,
			"The organization has no key of this ID or name. Rules for tokens and certificates are none."},
		{SessionNotFound, NotFound, "You have no session of this ID."},
		{ResourceNotFound, NotFound, "No version of the state that is kept has a resource of this address."},
		{RouteUnknown, Invalid, "There is no such path. It is 400 rather than 404, because Terraform takes 404 for \"no " +
			"state yet\" and would plan to create everything."},
		{MethodUnknown, MethodNotAllowed, "The path exists, but not with this method; `Allow` lists those it has."},
		{KeysFull, Conflict,
			"The organization has as many keys as can be made through the API. Revoke one that nobody uses."},
		{KeyLast, Conflict, "It is the organization's last key. Make another one first, or use `holdfast key revoke`."},
		{SettingsChanged, Conflict, "Somebody has changed the organization's settings since they were read. Nothing was " +
			"changed: read them again, and see whether that is still wanted."},
		{LockHeld, Conflict, "Somebody else holds the lock. The body is the holder's LockInfo, as the holder sent it."},
		{LockNotHeld, Conflict, "The write carries a lock ID that holds nothing: the lock was released or forced open. " +
			"Nothing was stored; run the plan again, or push `errored.tfstate`."},
		{LockIDUsed, Conflict, "A lock with this ID was released or taken over before. An ID is good for one lock; " +
			"take a new one."},
		{LockRequired, Conflict,
			"The organization lets only the holder of its lock change this state: write it, delete it, roll it back or " +
				"promote a candidate."},
		{BytesPurged, Conflict, "These very bytes were purged from the state. Nothing was stored; an owner can ask for " +
			"them with `restore_purged=true`."},
		{WriteHeld, Conflict, "A guard kept the write back; the message names the finding and the candidate that has the " +
			"bytes. Look at its diff, then promote or discard it."},
		{RunFenced, Conflict,
			"The run may not write this state, or not any more: its executor was taken for lost, or the " +
				"run has ended. The lock was not granted or released. A body was not made a version; the message names the " +
				"candidate that has it. Look at its diff, then promote or discard it."},
		{CandidateSettled, Conflict, "The candidate was promoted or discarded already."},
		{CandidateStale, Conflict,
			"The state has moved on since: there is a newer version than the one that this builds on. Look at the difference " +
				"to the newest, then ask again with its number."},
		{ImportTooOld, Conflict,
			"The state was written here after the time of the version that was to be imported, which would take the place of " +
				"a newer one, or was deleted here. Nothing was stored."},
		{CandidatesFull, Conflict, "The state has as many open candidates as it may have. Promote or discard one first."},
		{StateExists, Conflict,
			"The state is not deleted, so there is nothing to bring back. Delete it first, or roll it " +
				"back to an older version."},
		{VersionPurged, Gone, "The version's bytes were destroyed on purpose; what describes them is still in the list."},
		{PinGone, Gone, "The version that the run's plan is pinned to was destroyed on purpose, or retention removed it. " +
			"There may well be a state, so this is not 404; plan anew."},
		{ConditionFailed, PreconditionFailed,
			"The state is not, or is no longer, what `If-Match` or `If-None-Match` says. Nothing was done; read it again."},
		{BodyTooLarge, TooLarge, "The body is larger than the limit that the message names. Nothing was stored."},
		{PlanFileTooLarge, TooLarge,
			"The plan file, or what is packed in it, is larger than a limit that the message names. Nothing was stored."},
		{PlanJSONTooLarge, TooLarge,
			"The JSON of the plan, or one change in it, is larger than a limit that the message names. Nothing was stored."},
		{MediaUnsupported, Unsupported, "The `Content-Type` is not JSON, or the `Content-Encoding` is not gzip."},
		{IdempotencyMismatch, Unprocessable,
			"This `Idempotency-Key` came with another body before. Nothing was stored; use a new key for a new upload."},
		{QueryTooWide, Unprocessable,
			"More different resources match than the server keeps in mind at once. Narrow the query with filters."},
		{ToolConstraintInvalid, Invalid,
			"There is no such tool, or a version or version constraint is not one; the message says where it stands: in the " +
				"workspace, in a version file such as `.opentofu-version`, or in a `required_version`."},
		{ToolUnavailable, Unprocessable,
			"No version of the tool that is there is the one that is asked for, or fits everything that limits it; the " +
				"message says what excludes which, and which are installed."},
		{ToolMismatch, Unprocessable,
			"The program is not the tool, or not the version, that it was given as, or does not run on this machine. " +
				"Nothing was added."},
		{ToolExists, Conflict, "This version of the tool is there with another binary. Remove that one first."},
		{ToolUntrusted, Unprocessable,
			"What was downloaded is not signed by a key that this server trusts, does not match its checksum, or is not an " +
				"archive with just the tool in it. Nothing was added."},
		{StateEncrypted, Unprocessable,
			"The state was encrypted by the client, so the server can't look into it. Whatever needs no look inside works."},
		{StateUnsupported, Unprocessable,
			"The state is not one of format version 4, which Terraform since 0.12 and OpenTofu write, or is nested deeper " +
				"than these read; the message says where. It is kept and served, but not looked into."},
		{PlanEncrypted, Unprocessable,
			"The plan file is encrypted by OpenTofu, so it can't be checked against what was to be planned, and checking it " +
				"is required."},
		{PlanCredentials, Unprocessable,
			"The plan file carries credentials in its backend's settings. Give them to the tool in `TF_HTTP_*` instead; " +
				"nothing was stored."},
		{PlanBackendMismatch, Unprocessable,
			"The plan file names another backend, or settings of it that an apply would follow. Nothing was stored."},
		{PlanStateMismatch, Unprocessable,
			"The plan was made against another state than the one that the run has pinned; the message has lineage and serial " +
				"of both. Nothing was stored."},
		{PlanConfigMismatch, Unprocessable,
			"The plan file has another configuration than the one that the run has pinned; `details` lists the files. Nothing " +
				"was stored."},
		{PlanLockMismatch, Unprocessable,
			"The plan file has another lock file than the one that the run has pinned. Nothing was stored."},
		{PlanToolMismatch, Unprocessable,
			"The plan was made by another tool, or another version of it, than the run has pinned. Nothing was stored."},
		{PlanChangesMismatch, Unprocessable,
			"The plan file does something else to some resource than the JSON that came with it says, so that people would " +
				"approve one plan and apply another. Nothing was stored."},
		{SignInOff, NotImplemented,
			"No issuer signs people in to this server: `page.oidc_issuer` is not set. Sign in with a key."},
		{KeysReadOnly, NotImplemented,
			"The server can't write its auth file, so keys and settings are changed where that comes from. Nothing was changed."},
		{UploadsOff, NotImplemented,
			"This server keeps no uploads: `storage.type` is `memory`. Set it (`STORAGE_TYPE`) to `csv`, `mysql`, " +
				"`postgres` or `dual`."},
		{RateLimited, TooMany,
			"The organization has used up its requests for now. Try again after `Retry-After` seconds. " +
				"What carries the ID of a state's lock that is held is never refused so."},
		{TooManyFailures, TooMany,
			"Too many wrong credentials came from this address, or for this organization, so these were not looked at. After " +
				"`Retry-After` seconds one more is. Keys made for the organization that they are sent for have tries of their own."},
		{TooManyWaiting, TooMany,
			"As many streams of logs, or requests that wait for work, go on as the organization may have, or as the server " +
				"has at once. Try again after `Retry-After` seconds."},
		{Overloaded, Unavailable,
			"As many requests are in flight, or as many bytes of bodies in memory, as the server takes at once. Nothing was " +
				"done; try again after `Retry-After` seconds."},
		{IssuerUnavailable, Unavailable,
			"The token's issuer can't be asked for its keys right now. Try again, or use a key."},
		{Busy, Unavailable, "Too many key checks or sign-ins are waiting, or the auth file is being edited. Try again after " +
			"`Retry-After` seconds."},
		{ChangedMeanwhile, Conflict, "Others changed the same thing each time that this was tried. Nothing was changed; look " +
			"at it as it is now, and try again."},
		{Interrupted, Unavailable,
			"The request was given up before it began, because the client left or the server is stopping. Nothing was stored."},
		{KeysNotTaken, Unavailable,
			"The auth file was changed, but the server has not taken it; its log says why. A key that was to be made is not " +
				"known to anybody."},
		{StoreUnavailable, Unavailable,
			"The store can't be read or written right now. Nothing was acknowledged; try again."},
		{StateRewound, Unavailable,
			"The database has lost a change of the state that was acknowledged, as after a failover. " +
				"The state is neither read nor written until an operator has said what counts."},
		{StoreFull, NoSpace, "The store has no space left, or only the reserve that is for who holds a lock already. " +
			"Nothing was stored; an operator must make room."},
		{QuotaExceeded, NoSpace,
			"The organization has as much stored as it may have; the message says how much that is. Nothing was stored, and " +
				"no lock was granted. Purge versions, keep fewer of them, or ask the operator for a larger quota. `GET " +
				"/api/v1/whoami` shows both numbers."},
		{BacklogFull, NoSpace,
			"One side of a dual store is behind or refuses uploads, the message says which, and as much " +
				"of your organization's uploads as may be is kept for it. Nothing was stored; try again when it has caught up, or " +
				"ask an operator."},
		{ToolMirrorUnavailable, Unavailable,
			"The mirror from which tools are downloaded can't be reached, or does not answer as one. Nothing was " +
				"added; try again."},
		{StoreDegraded, Degraded,
			"Uploads are accepted, but one side of a dual store is behind and being caught up, refuses some of them for good, " +
				"or differs from the other; or the database has lost changes of some states, which are refused."},
		{StoreCorrupt, Internal,
			"An organization's upload file was changed from outside, or is damaged; the log says in which line. Nothing " +
				"was stored."},
		{StateCorrupt, Internal,
			"The stored bytes do not match their digest. They are not served; an operator must restore them."},
		{SealCorrupt, Internal,
			"Something that is kept encrypted can't be opened: it was changed, damaged or moved. It is " +
				"not served; an operator must restore it."},
		{SealKeyMissing, Internal,
			"A key that something kept encrypted needs is not there. An operator must bring back the master key file, or the " +
				"data keys, of the time when it was kept."},
		{ToolChanged, Internal,
			"A tool's binary is not the one that was added: it was changed on disk. It is not run; an " +
				"operator must remove it and add it again."},
		{InternalError, Internal, "A fault of ours. The log has the details under the request ID."},
	}
	return slices.Concat(entries, runEntries(), workspaceEntries(), repositoryEntries(), layerEntries(),
		pullEntries())
}

// Kind returns the class that the catalogue gives the code; Internal for one it lacks.
func (c Code) Kind() Kind {
	for _, e := range Catalogue() {
		if e.Code == c {
			return e.Kind
		}
	}
	return Internal
}
