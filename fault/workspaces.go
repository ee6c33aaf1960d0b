package fault

// The codes of workspaces, their variables and their configurations.
const (
	WorkspaceNotFound Code = "workspace_not_found"
	WorkspaceExists   Code = "workspace_exists"
	WorkspacesFull    Code = "workspaces_full"
	WorkspaceInUse    Code = "workspace_in_use"
	WorkspaceInvalid  Code = "workspace_invalid"
	VariableInvalid   Code = "variable_invalid"
	VariableRefused   Code = "variable_refused"
	VariableHCL       Code = "variable_hcl_invalid"
	VariablesFull     Code = "variables_full"
	SnapshotNotFound  Code = "snapshot_not_found"
	SnapshotMoved     Code = "snapshot_moved"
	FileNotFound      Code = "file_not_found"
	FileChanged       Code = "file_changed"
	FormatInvalid     Code = "format_invalid"
	FilesMissing      Code = "files_missing"
	FilePathInvalid   Code = "file_path_invalid"
	FileNotText       Code = "file_not_text"
	FileTooLarge      Code = "file_too_large"
	FilesTooMany      Code = "files_too_many"
	FilesTooLarge     Code = "files_too_large"
	FileTwice         Code = "file_twice"
	ArchiveInvalid    Code = "archive_invalid"
	ArchiveEntry      Code = "archive_entry_refused"
	ArchiveBomb       Code = "archive_bomb"
	PolicyInvalid     Code = "policy_invalid"
	PolicyNotFound    Code = "policy_not_found"
	PoliciesFull      Code = "policies_full"
)

func workspaceEntries() []Entry {
	return []Entry{
		{WorkspaceInvalid, Invalid,
			"A setting of the workspace, or a body about it, makes no sense; the message says which. Nothing was stored."},
		{WorkspaceNotFound, NotFound, "There is no workspace of this name in your organization."},
		{WorkspaceExists, Conflict, "There is a workspace of this name already, with other settings."},
		{WorkspacesFull, Conflict, "The organization has as many workspaces as it may have. Delete one first."},
		{WorkspaceInUse, Conflict, "A run of the workspace goes on; the message says which. Wait for its end, or cancel it."},
		{VariableInvalid, Invalid,
			"A variable's name, kind or value breaks a rule; the message says which. Nothing was stored."},
		{VariableRefused, Invalid,
			"A variable of this name would break the run, or carries what the server sets itself. Nothing was stored."},
		{VariableHCL, Invalid, "The variable's value is not one HCL expression without references; the message says where. " +
			"Nothing was stored."},
		{VariablesFull, Conflict,
			"There are as many variables as there may be, or their values are as long as they may be together. Nothing " +
				"was stored."},
		{SnapshotNotFound, NotFound, "The workspace has no such snapshot, or not any more."},
		{SnapshotMoved, Conflict,
			"Somebody else has changed the configuration since the snapshot that this builds on. Nothing was stored; look at " +
				"the difference, then try again."},
		{FileNotFound, NotFound, "The snapshot has no file of this path."},
		{FileChanged, PreconditionFailed,
			"The file is not, or not any more, what `If-Match` or `If-None-Match` says; `details` has the digest of what is " +
				"there (empty for no file), in which snapshot, by whom and since when. Nothing was stored; merge it with your " +
				"own, then save on top of it."},
		{FormatInvalid, Invalid,
			"The text can't be brought into its usual form: it is not HCL, or not JSON; the message says where."},
		{FilesMissing, Conflict,
			"The contents of some of the files were not sent yet, or their time has run out; `details` lists them. Nothing " +
				"was stored; send them first."},
		{FilePathInvalid, Invalid,
			"A file's path breaks a rule; the message says which. Paths are relative, in UTF-8, with `/` between names that " +
				"are neither empty, `.` nor `..`. Nothing was stored."},
		{FileNotText, Invalid, "A file that the tool reads as text, such as `.tf`, is not UTF-8. Nothing was stored."},
		{FileTooLarge, TooLarge, "A file is larger than the limit that the message names. Nothing was stored."},
		{FilesTooMany, TooLarge,
			"There are more files, or they lie deeper, than the limit that the message names. Nothing was stored."},
		{FilesTooLarge, TooLarge, "The files are larger together than the limit that the message names. Nothing was stored."},
		{FileTwice, Invalid, "A path comes twice, is a folder of another one, or differs from another one only by case. " +
			"Nothing was stored."},
		{ArchiveInvalid, Invalid, "The body is not a whole archive in tar format, packed by gzip. Nothing was stored."},
		{ArchiveEntry, Invalid, "The archive has a link, a device or something else that is neither a file nor a folder. " +
			"Nothing was stored."},
		{ArchiveBomb, TooLarge, "The archive unpacks to far more than it has. Nothing was stored."},
		{PolicyInvalid, Invalid,
			"The bundle of policies breaks a rule, doesn't compile, or one of its tests fails; the message says which, and " +
				"`details` has a file with its line for each. Nothing was stored."},
		{PolicyNotFound, NotFound, "There is no such bundle of policies, or not in this version any more."},
		{PoliciesFull, Conflict, "The organization has as many bundles of policies as it may have. Remove one first."},
	}
}
