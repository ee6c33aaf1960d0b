package fault

// The codes of runs and of those who execute them.
const (
	RunNotFound      Code = "run_not_found"
	RunFileNotFound  Code = "run_file_not_found"
	AgentNotFound    Code = "agent_not_found"
	PoolNotFound     Code = "pool_not_found"
	PoolExists       Code = "pool_exists"
	PoolOther        Code = "pool_other"
	RunInvalid       Code = "run_invalid"
	RunsFull         Code = "runs_full"
	RunStatus        Code = "run_status"
	RunStale         Code = "run_stale"
	PinMismatch      Code = "pin_mismatch"
	ApprovalNeeded   Code = "approval_needed"
	ApprovalOwn      Code = "approval_own"
	ApprovalOthers   Code = "approval_others"
	DestroyProtected Code = "destroy_protected"
	EpochOld         Code = "epoch_old"
	LogGap           Code = "log_gap"
	LogMismatch      Code = "log_mismatch"
	LogTooLarge      Code = "log_too_large"
	FileMismatch     Code = "file_mismatch"
	UploadReplaced   Code = "upload_replaced"
	PlanRefused      Code = "plan_refused"
	RunsOff          Code = "runs_off"
	RunInProgress    Code = "run_in_progress"
)

func runEntries() []Entry {
	return []Entry{
		{RunInvalid, Invalid, "The order of a run, or what an executor says of one, breaks a rule; the message says which. " +
			"Nothing was done."},
		{RunNotFound, NotFound, "There is no run of this ID in your organization."},
		{RunFileNotFound, NotFound, "The run has no such file, or not any more."},
		{AgentNotFound, NotFound, "There is no agent of this ID."},
		{PoolNotFound, NotFound, "There is no pool of agents of this name in your organization."},
		{PoolExists, Conflict, "There is a pool of agents of this name already. Rotate its token, or remove it first."},
		{PoolOther, Conflict, "The pool of agents does not serve this workspace. Nothing was changed."},
		{RunStatus, Conflict, "The run is not where this can be done; the message says where it is. Nothing was done."},
		{RunStale, Conflict, "The plan can't be applied any more; the message says what has changed and by whom. Retry the " +
			"run, which plans again."},
		{PinMismatch, Conflict, "The digest is not that of the run's plan: somebody looked at another plan. Nothing was " +
			"decided; look at the run again."},
		{ApprovalNeeded, Conflict, "The workspace wants somebody's approval first."},
		{ApprovalOwn, Forbidden, "Who asked for the run may not approve it."},
		{ApprovalOthers, Forbidden, "What holds the plan is for others to approve."},
		{DestroyProtected, Conflict, "The workspace is protected from being destroyed. Take the protection away first."},
		{RunsFull, Conflict, "The organization has as many runs waiting as it may have. Wait, or cancel some."},
		{EpochOld, Gone, "The executor has lost the run: its lease ended, and somebody else has decided since. Nothing " +
			"was accepted."},
		{LogGap, Conflict, "The log ends before this offset; the message says where. Go on from there."},
		{LogMismatch, Conflict, "The log has other bytes in this place already. Nothing was stored."},
		{LogTooLarge, TooLarge, "The log has as many bytes as it may have. Nothing more of it is stored."},
		{UploadReplaced, Conflict,
			"Another upload of the same file of the run has begun since. Nothing of this one is kept; send it again, or look " +
				"whether the other one has it."},
		{FileMismatch, Conflict, "The run has a file of this kind already, with another digest."},
		{PlanRefused, Unprocessable,
			"The plan file is not one of this run: the message says what differs. Nothing was accepted."},
		{RunInProgress, Conflict, "A run of this project is at work, or waits for approval: `details` name it. Wait for " +
			"it, or approve, deny or cancel it."},
		{RunsOff, NotImplemented, "This server keeps no runs. Set `[runs] storage` (`HOLDFAST_RUNS_STORAGE`)."},
	}
}
