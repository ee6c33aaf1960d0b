import type { Policy, PolicyFile } from '@/api/types'

export const waiversPath = 'waivers.yaml'
export const pricesPath = 'prices.csv'

/** Bundle is what is edited. */
export interface Bundle {
  name: string
  workspace: string
  enforce: Policy['enforce']
  files: PolicyFile[]
}

/** emptyBundle begins with a policy and its test, which pass. */
export function emptyBundle(): Bundle {
  return { name: '', workspace: '', enforce: 'advise', files: [policyFile([])] }
}

const policyText = `# METADATA
# title: Instances are small
# custom:
#   id: OWN-1
#   severity: medium
#   recommendation: Take one of the t3 family.
package own.instances

deny contains {"msg": msg, "resource": c.address} if {
	some c in input.resource_changes
	c.type == "aws_instance"
	not startswith(c.change.after.instance_type, "t3.")
	msg := sprintf("it is a %s", [c.change.after.instance_type])
}

test_large if {
	count(deny) == 1 with input as {"resource_changes": [{"address": "aws_instance.x", "type": "aws_instance", "change": {"after": {"instance_type": "m5.large"}}}]}
}
`

/** policyFile is another policy, with a name that none of these files has. */
export function policyFile(files: PolicyFile[]): PolicyFile {
  for (let n = 1; ; n++) {
    const path = n === 1 ? 'policy.rego' : `policy${String(n)}.rego`
    if (!files.some((file) => file.path === path)) return { path, content: policyText.replaceAll('own.instances', n === 1 ? 'own.instances' : `own.instances${String(n)}`) }
  }
}

/** waiversFile begins the file of the waivers. today is as 2026-11-22. */
export function waiversFile(today: string): PolicyFile {
  return { path: waiversPath, content: `waivers:\n  - rule: HF-AWS-001\n    resource: aws_security_group.bastion*\n    owner: you@example.com\n    reason: the bastion is to be reached from everywhere\n    expires: ${today}\n` }
}

/** pricesFile begins the price sheet. */
export function pricesFile(today: string): PolicyFile {
  return { path: pricesPath, content: `type,region,when,component,quantity,unit,price,source,date\naws_instance,eu-west-1,instance_type=t3.micro,compute,1,hour,0.0114,our contract,${today}\n` }
}

/** changed replaces a file by another, at its place. */
export function changed(files: PolicyFile[], at: number, file: PolicyFile): PolicyFile[] {
  return files.map((one, i) => (i === at ? file : one))
}

/** problemOf says what is wrong with the names of files, in words; the rest is the server's to say. */
export function problemOf(files: PolicyFile[]): string | undefined {
  const paths = files.map(({ path }) => path.trim())
  if (paths.length === 0) return 'A bundle has at least one file.'
  const twice = paths.find((path, i) => paths.indexOf(path) !== i)
  if (twice !== undefined) return `There are two files with the name ${twice}.`
  const odd = paths.find((path) => !path.endsWith('.rego') && path !== waiversPath && path !== pricesPath)
  if (odd !== undefined) return `${odd === '' ? 'A file without a name' : odd} is neither a policy that ends in .rego nor ${waiversPath} or ${pricesPath}.`
  return undefined
}
