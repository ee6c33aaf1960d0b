// Names for the shapes of requests and answers. The shapes themselves are generated from the server's
// own description: npm run types writes schema.d.ts anew, and npm run check holds it to api/openapi.json.
import type { components, operations } from './schema'

type Schemas = components['schemas']

/** Json is any value that JSON has: where the description says no more, values are these. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export type Actor = Schemas['Actor']
export type Agent = Schemas['Agent']
export type AttributeChange = Schemas['AttributeChange']
export type AuditEvent = Schemas['Event']
export type AuditPage = Schemas['Events']
export type BrowserSession = Schemas['Session']
export type Candidate = Schemas['Candidate']
export type Candidates = Schemas['Candidates']
export type Counts = Schemas['Counts']
export type CoverageStatus = NonNullable<NonNullable<operations['coverResources']['parameters']['query']>['status']>
export type Diagnostic = Schemas['Diagnostic']
export type Diff = Schemas['Diff']
export type Extent = Pick<Schemas['Resources'], 'sources' | 'limited' | 'complete' | 'unread' | 'unread_more'>
export type Failure = Schemas['Failure']
export type FileEntry = Schemas['SnapshotFile']
export type Folder = Schemas['Folder']
export type Graph = Schemas['Graph']
export type History = Schemas['History']
export type Home = Schemas['Home']
export type Identity = Schemas['Identity']
export type Key = Schemas['Key']
export type KeyMade = Schemas['KeyMade']
export type KeyWanted = Schemas['KeyWanted']
export type LiveChange = Schemas['LiveChange']
export type Lock = Schemas['Lock']
export type LogBytes = Schemas['LogBytes']
export type Outputs = Schemas['Outputs']
export type OutputChange = Schemas['OutputChange']
export type Pin = Schemas['Pin']
export type Place = Schemas['Place']
export type Pool = Schemas['AgentPool']
export type Resource = Schemas['Resource'] & { same?: Place[] }
export type ResourceChange = Schemas['ResourceChange']
export type Run = Schemas['Run']
export type RunChange = Schemas['RunChange']
export type RunChanges = Schemas['RunChanges']
export type RunEvent = Schemas['RunEvent']
export type RunKind = Schemas['RunKind']
export type RunStatusName = Schemas['RunProgress']
export type Runs = Schemas['Runs']
export type Share = Schemas['Share']
export type Snapshot = Schemas['Snapshot']
export type Source = Schemas['Source']
export type State = Schemas['State']
export type States = Schemas['States']
export type Step = Schemas['Step']
export type Version = Schemas['Version']
export type Versions = Schemas['Versions']
export type Workspace = Schemas['Workspace']
export type WorkspaceWanted = Schemas['WorkspaceChange']
