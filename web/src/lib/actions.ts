/** signOf is how the tools mark a change, with its word. */
export function signOf(actions: string[]): [sign: string, word: string, tone: 'done' | 'person' | 'loss' | 'still'] {
  const all = actions.join(' ')
  if (all.includes('delete') && all.includes('create')) return ['±', 'replaced', 'loss']
  if (all.includes('create')) return ['+', 'new', 'done']
  if (all.includes('delete')) return ['-', 'destroyed', 'loss']
  if (all.includes('update')) return ['~', 'changed in place', 'person']
  if (all.includes('forget')) return ['.', 'forgotten', 'person']
  if (all.includes('read')) return ['<', 'read', 'still']
  return [' ', 'unchanged', 'still']
}
