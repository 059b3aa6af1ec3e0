import { onlyListedModules } from './listed-modules.ts';
import type { Rule } from './rules.ts';

/**
 * Every module that names all kinds of state writes, and why. `src/core/state/` is the one
 * implementation of what they mean: how they apply, merge, conflict, and become a delta.
 */
export const STATE_WRITES: Readonly<Record<string, string>> = {
  'src/core/state/key-write.ts': 'the implementation, for one key',
  'src/core/state/state-writes.ts': 'the implementation',
  'src/net/language/arcs.ts': 'the type of what a transition writes to a map place',
  'src/net/journal/parse-records.ts': 'checks the types of a record from outside',
  'src/net/journal/map-change.ts': 'checks the types of what a transition wrote',
  'src/store/contract/shared-state-cases.ts': 'the contract of stores: example writes',
  'src/store/contract/store-operations.ts': 'the contract of stores: random writes',
  'src/tools/state/state-buffer.ts': 'the methods that a tool calls; one merge per call',
  'src/agents/state/live-state.ts': 'passes the methods that a generator calls on',
  'src/server/wire/declared-keys.ts': 'names the members of writes, which redacted files keep',
  'src/server/wire/redact-journal.ts':
    'hides the values of each kind, and keeps what can be applied',
  'src/adk/workflow/state-schema.ts': 'checks written values against a schema',
};

/** Only the listed modules name both `increment` and `append`, and each listed module does. */
export const onlyListedModulesNameStateWrites: (listed: Readonly<Record<string, string>>) => Rule =
  onlyListedModules({
    does: (code) => /\bincrement\b/.test(code) && /\bappend\b/.test(code),
    what: 'names the kinds of state writes',
    instead: 'use applyWrites, mergeWrites and the others of src/core/state/',
  });
