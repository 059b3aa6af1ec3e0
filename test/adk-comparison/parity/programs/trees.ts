import type { Program } from '../kit.ts';

const toBilling = {
  calls: [{ name: 'transfer_to_agent', args: { agentName: 'billing' } }],
};
const toHelp = {
  calls: [{ name: 'transfer_to_agent', args: { agentName: 'help' } }],
};

/** Several agents. */
export const treePrograms: readonly Program[] = [
  {
    name: 'transfer to a sub-agent',
    area: 'transfer',
    root: (kit) =>
      kit.llm({
        name: 'front',
        description: 'Takes requests.',
        instruction: 'Send people on.',
        subAgents: [
          kit.llm({
            name: 'billing',
            description: 'Knows bills.',
            instruction: 'Explain bills.',
            script: [{ text: 'Your bill is 5.' }, { text: 'It is still 5.' }],
          }),
          kit.llm({ name: 'help', description: 'Helps.', script: [] }),
        ],
        script: [toBilling],
      }),
    turns: ['My bill?', 'And now?'],
  },
  {
    name: 'transfer to a peer and back to the parent',
    area: 'transfer',
    root: (kit) =>
      kit.llm({
        name: 'front',
        description: 'Takes requests.',
        subAgents: [
          kit.llm({ name: 'billing', description: 'Knows bills.', script: [toHelp] }),
          kit.llm({
            name: 'help',
            description: 'Helps.',
            script: [
              {
                calls: [{ name: 'transfer_to_agent', args: { agentName: 'front' } }],
              },
            ],
          }),
        ],
        script: [toBilling, { text: 'Nobody knows.' }],
      }),
    turns: ['My bill?'],
  },
  {
    name: 'a sub-agent without transfers',
    area: 'transfer',
    root: (kit) =>
      kit.llm({
        name: 'front',
        subAgents: [
          kit.llm({
            name: 'billing',
            description: 'Knows bills.',
            instruction: 'Explain bills.',
            disallowTransferToParent: true,
            disallowTransferToPeers: true,
            script: [{ text: 'Your bill is 5.' }],
          }),
        ],
        script: [toBilling, { text: 'Anything else?' }],
      }),
    turns: ['My bill?', 'Thanks.'],
  },
  {
    name: 'global instruction of the root',
    area: 'transfer',
    root: (kit) =>
      kit.llm({
        name: 'front',
        globalInstruction: 'Be polite.',
        instruction: 'Send people on.',
        subAgents: [
          kit.llm({
            name: 'billing',
            description: 'Knows bills.',
            globalInstruction: 'Not used.',
            script: [{ text: 'Your bill is 5.' }],
          }),
        ],
        script: [toBilling],
      }),
    turns: ['My bill?'],
  },
  {
    name: 'a sequence',
    area: 'sequences',
    root: (kit) =>
      kit.sequential({
        name: 'team',
        subAgents: [
          kit.llm({
            name: 'writer',
            instruction: 'Write.',
            outputKey: 'draft',
            script: [{ text: 'A draft.' }],
          }),
          kit.llm({
            name: 'reviewer',
            instruction: 'Review: {draft}',
            script: [{ text: 'It is good.' }],
          }),
        ],
      }),
    turns: ['Write about rain.'],
  },
  {
    name: 'a sequence with a tool',
    area: 'sequences',
    root: (kit) =>
      kit.sequential({
        name: 'team',
        subAgents: [
          kit.llm({
            name: 'writer',
            tools: [
              kit.tool({ name: 'look_up', description: 'Looks up.', execute: () => ({ rain: 5 }) }),
            ],
            script: [{ text: 'I look.', calls: [{ name: 'look_up' }] }, { text: 'Rain: 5.' }],
          }),
          kit.llm({ name: 'reviewer', script: [{ text: 'It is good.' }] }),
        ],
      }),
    turns: ['Write about rain.'],
  },
  {
    name: 'a loop that ends after its iterations',
    area: 'loops',
    root: (kit) =>
      kit.loop({
        name: 'again',
        maxIterations: 2,
        subAgents: [
          kit.llm({ name: 'writer', script: [{ text: 'Draft 1.' }, { text: 'Draft 2.' }] }),
        ],
      }),
    turns: ['Write.'],
  },
  {
    name: 'a loop that a tool leaves',
    area: 'loops',
    root: (kit) =>
      kit.loop({
        name: 'again',
        maxIterations: 5,
        subAgents: [
          kit.llm({
            name: 'writer',
            tools: [
              kit.tool({
                name: 'stop',
                description: 'Stops.',
                execute: (_, view) => {
                  view.escalate();
                  return { stopped: true };
                },
              }),
            ],
            script: [{ text: 'Draft 1.' }, { calls: [{ name: 'stop' }] }, { text: 'Good.' }],
          }),
        ],
      }),
    turns: ['Write.'],
  },
  {
    name: 'two agents in parallel',
    area: 'parallel',
    concurrent: true,
    root: (kit) =>
      kit.sequential({
        name: 'team',
        subAgents: [
          kit.parallel({
            name: 'both',
            subAgents: [
              kit.llm({ name: 'left', outputKey: 'left', script: [{ text: 'Left.' }] }),
              kit.llm({ name: 'right', outputKey: 'right', script: [{ text: 'Right.' }] }),
            ],
          }),
          kit.llm({ name: 'last', instruction: '{left} {right}', script: [{ text: 'Both.' }] }),
        ],
      }),
    turns: ['Go.'],
  },
];
