import type { Program } from '../kit.ts';

/** Agents and nodes with code of their own. */
export const customPrograms: readonly Program[] = [
  {
    name: 'a custom agent with a message and state',
    area: 'custom agents',
    root: (kit) =>
      kit.custom({
        name: 'clerk',
        run: () => [{ text: 'One moment.' }, { state: { seen: true } }, { text: 'Done.' }],
      }),
    turns: ['Hello!'],
  },
  {
    name: 'a custom agent that runs sub-agents',
    area: 'custom agents',
    root: (kit) =>
      kit.custom({
        name: 'clerk',
        subAgents: [
          kit.llm({ name: 'writer', description: 'Writes.', script: [{ text: 'A draft.' }] }),
          kit.llm({ name: 'reviewer', description: 'Reviews.', script: [{ text: 'Good.' }] }),
        ],
        run: () => ['writer', { text: 'And now the review.' }, 'reviewer'],
      }),
    turns: ['Write.'],
  },
  {
    name: 'a custom agent that ends a loop',
    area: 'custom agents',
    root: (kit) =>
      kit.loop({
        name: 'again',
        maxIterations: 3,
        subAgents: [
          kit.llm({ name: 'writer', script: [{ text: 'Draft 1.' }] }),
          kit.custom({ name: 'judge', run: () => [{ escalate: true }] }),
        ],
      }),
    turns: ['Write.'],
  },
  {
    name: 'a workflow of functions',
    area: 'workflow',
    root: (kit) =>
      kit.workflow('flow', [
        { name: 'upper', run: (input) => String(input).toUpperCase() },
        { name: 'exclaim', run: (input) => `${String(input)}!` },
      ]),
    turns: ['hello'],
  },
  {
    name: 'a workflow with an agent',
    area: 'workflow',
    root: (kit) =>
      kit.workflow('flow', [
        { name: 'prepare', run: () => 'Write about rain.' },
        kit.llm({ name: 'writer', instruction: 'Write.', script: [{ text: 'It rains.' }] }),
      ]),
    turns: ['Go.'],
  },
];
