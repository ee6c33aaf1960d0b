import type { Insight } from '@/api/types'

/** rich is an insight with everything in it that one may have, and a hostile text wherever there is a text. */
export function rich(hostile: string): Insight {
  const finding = (severity: string, resource: string, title: string, description: string): Insight['findings'][number] => ({
    rule: 'HF-AWS-001',
    severity,
    kind: 'networking',
    resource,
    title,
    description,
    recommendation: 'Restrict SSH access to known address ranges, or use Session Manager.',
    link: 'https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/security_group',
  })
  const open = [
    finding('critical', 'aws_s3_bucket_policy.site', 'A bucket is public by its policy', 'everybody may s3:GetObject'),
    finding('high', 'module.bastion.aws_security_group.ssh', 'SSH is open to the world', 'ingress allows the whole world on port 22'),
    finding('high', 'aws_db_instance.main', 'A database can be reached from the internet', 'publicly_accessible is true'),
    { ...finding('medium', `aws_instance.${hostile}`, hostile, hostile), rule: hostile, recommendation: hostile, link: 'javascript:alert(1)' },
    finding('low', 'aws_sqs_queue.mail', 'A queue or topic is not encrypted', 'neither kms_master_key_id nor sqs_managed_sse_enabled is set'),
  ]
  return {
    summary: `**2 to add, 1 to change, 2 to destroy, 1 of them replaced.**\n- Can't be undone: \`aws_db_instance.main\`: it is replaced because of storage\\_encrypted, and its data is lost with the old one\n- Security: high, \`aws_s3_bucket_policy.site\`: everybody may s3:GetObject\n- ${hostile} [link](javascript:alert(1)) &lt;b&gt;\n- Most depends on \`aws_security_group.web_sg\` (1).\n- Cost: $83.91 per month (+$69.20).\n- Without a known price: 2.\nNeeds approval or attention: 3 findings of high or critical severity; 1 change that can't be undone.`,
    costs: {
      estimated: [
        { resource: 'aws_db_instance.main', monthlyCost: '$51.94', deltaMonthly: '+$37.23', source: 'AWS pricing', note: 'region not known, taken as us-east-1' },
        { resource: 'aws_instance.web', monthlyCost: '$31.97', deltaMonthly: '+$31.97', source: 'AWS pricing' },
        { resource: `aws_instance.old["${hostile}"]`, monthlyCost: '$0.00', deltaMonthly: '-$8.35', source: hostile },
      ],
      aiEstimated: [{ resource: 'acme_thing.x', monthlyCost: '$12.00', confidence: 'low' }],
      unpriced: ['acme_thing.y', `acme_thing.z["${hostile}"]`],
      totalMonthly: '$83.91',
      deltaMonthly: '+$69.20',
      pricesDate: '2026-11-01',
    },
    model: {
      model: 'some-model',
      summary: `A bucket becomes public.\n${hostile} [link](javascript:alert(1))`,
      findings: [{ severity: 'high', resource: `aws_instance.${hostile}`, description: hostile, recommendation: 'Ask whoever wants it.' }],
    },
    security: { issues: [], shouldApprove: true },
    facts: {
      counts: { add: 2, change: 1, destroy: 2, replace: 1, import: 0, move: 0, forget: 0, drift: 0, outputs: 0, any: true },
      total: 5,
      changes: [],
      drift: [],
      irreversible: [{ resource: 'aws_db_instance.main', reason: 'it is replaced because of storage_encrypted, and its data is lost with the old one' }],
      outputs: [],
      unknown: 3,
      tool_version: '1.12.6',
    },
    findings: [
      ...open,
      { ...finding('high', 'aws_ebs_volume.archive', 'A volume is not encrypted', 'encrypted is false'), standing: true },
      { ...finding('high', 'module.bastion.aws_security_group.all', 'SSH is open to the world', 'ingress allows the whole world on port 22'), waived: { owner: 'ann@example.com', reason: 'the bastion is to be reached from everywhere', expires: '2027-03-31' } },
    ],
    broken: [{ rule: 'ACME-1', reason: 'it took longer than 5 seconds' }],
    approve_because: ['3 findings of high or critical severity', '1 rule that could not be asked', "1 change that can't be undone", 'more changes than are looked at'],
    rules_digest: '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
    cut: true,
    unread: true,
  }
}
