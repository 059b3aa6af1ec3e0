import { z } from 'zod';
import type { Kit, Program, Ref } from '../kit.ts';

const askManager = { calls: [{ name: 'ask_manager', args: { question: 'Refund?' } }] };
const callRefund = { calls: [{ name: 'refund', args: { order: 'A-7' } }] };
const approved = { answer: 'ask_manager', response: { status: 'approved' } };

function managerTool(kit: Kit): Ref {
  return kit.longRunningTool({
    name: 'ask_manager',
    description: 'Asks the manager.',
    parameters: z.object({ question: z.string() }),
    execute: () => ({ status: 'pending', ticket: 7 }),
  });
}

function refundTool(kit: Kit): Ref {
  return kit.tool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.string() }),
    requireConfirmation: true,
    execute: ({ order = '' }) => ({ refunded: order }),
  });
}

const transferTo = (agentName: string) => ({
  calls: [{ name: 'transfer_to_agent', args: { agentName } }],
});

/** Calls that are answered later, in conversations and trees. */
export const waitPrograms: readonly Program[] = [
  {
    name: 'a long-running tool beside another tool',
    area: 'long-running tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          managerTool(kit),
          kit.tool({ name: 'clock', description: 'The time.', execute: () => ({ hour: 9 }) }),
        ],
        script: [
          { calls: [...askManager.calls, { name: 'clock' }] },
          { text: 'It is nine, and I asked.' },
          { text: 'The manager agrees.' },
        ],
      }),
    turns: ['Refund A-7, and tell me the time.', approved],
  },
  {
    name: 'a later result in a conversation',
    area: 'long-running tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [managerTool(kit)],
        script: [
          askManager,
          { text: 'I asked.' },
          { text: 'Not yet.' },
          { text: 'The manager agrees.' },
          { text: 'You are welcome.' },
        ],
      }),
    turns: ['Refund A-7.', 'Any news?', approved, 'Thanks.'],
  },
  {
    name: 'a long-running tool of a sub-agent',
    area: 'long-running tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        subAgents: [
          kit.llm({
            name: 'refunds',
            description: 'Refunds orders.',
            tools: [managerTool(kit)],
            script: [askManager, { text: 'I asked.' }, { text: 'The manager agrees.' }],
          }),
        ],
        script: [transferTo('refunds')],
      }),
    turns: ['Refund A-7.', approved],
  },
  {
    name: 'a long-running tool in a sequence',
    area: 'long-running tools',
    root: (kit) =>
      kit.sequential({
        name: 'team',
        subAgents: [
          kit.llm({
            name: 'desk',
            tools: [managerTool(kit)],
            script: [askManager, { text: 'I asked.' }, { text: 'The manager agrees.' }],
          }),
          kit.llm({ name: 'clerk', script: [{ text: 'Noted.' }, { text: 'Noted again.' }] }),
        ],
      }),
    turns: ['Refund A-7.', approved],
  },
  {
    name: 'a long-running tool without a first result',
    area: 'long-running tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.longRunningTool({
            name: 'ask_manager',
            description: 'Asks the manager.',
            parameters: z.object({ question: z.string() }),
            execute: () => undefined,
          }),
        ],
        script: [askManager, { text: 'The manager agrees.' }],
      }),
    turns: ['Refund A-7.', approved],
  },
  {
    name: 'a confirmation in a sub-agent',
    area: 'confirmations',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        subAgents: [
          kit.llm({
            name: 'refunds',
            description: 'Refunds orders.',
            tools: [refundTool(kit)],
            script: [callRefund, { text: 'Refunded.' }],
          }),
        ],
        script: [transferTo('refunds')],
      }),
    turns: ['Refund A-7.', { confirm: 'refund', confirmed: true }],
  },
  {
    name: 'a confirmation and another turn',
    area: 'confirmations',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [refundTool(kit)],
        script: [callRefund, { text: 'Refunded.' }, { text: 'You are welcome.' }],
      }),
    turns: ['Refund A-7.', { confirm: 'refund', confirmed: true }, 'Thanks.'],
  },
  ...[true, false].map((confirmed) => ({
    name: `a confirmation of large amounts only that is ${confirmed ? 'given' : 'refused'}`,
    area: 'confirmations',
    root: (kit: Kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({
            name: 'pay',
            description: 'Pays.',
            parameters: z.object({ cents: z.number() }),
            requireConfirmation: async ({ cents }) => Number(cents) > 1000,
            execute: ({ cents = 0 }) => ({ paid: cents }),
          }),
        ],
        script: [
          { calls: [{ name: 'pay', args: { cents: 100 } }] },
          { calls: [{ name: 'pay', args: { cents: 2000 } }] },
          { text: 'Done.' },
        ],
      }),
    turns: ['Pay both.', { confirm: 'pay', confirmed }],
  })),
  {
    name: 'a confirmation that a tool asks for',
    area: 'confirmations',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({
            name: 'refund',
            description: 'Refunds an order.',
            parameters: z.object({ order: z.string() }),
            execute: ({ order = '' }, view) =>
              view.confirmed === undefined
                ? view.confirm(`Refund ${String(order)}?`)
                : { refunded: view.confirmed },
          }),
        ],
        script: [callRefund, { text: 'Refunded.' }],
      }),
    turns: ['Refund A-7.', { confirm: 'refund', confirmed: true }],
  },
  {
    name: 'a credential that a tool asks for',
    area: 'credentials',
    root: (kit) =>
      kit.llm({
        name: 'mail',
        tools: [
          kit.tool({
            name: 'read_mail',
            description: 'Reads mail.',
            execute: async (_, view) =>
              (await view.credential('mail')) === undefined
                ? view.askCredential('mail')
                : { mails: 2 },
          }),
        ],
        script: [{ calls: [{ name: 'read_mail' }] }, { text: 'Two mails.' }],
      }),
    turns: [
      'Any mail?',
      { authorize: 'mail', credential: { authType: 'apiKey', apiKey: 'a key' } },
    ],
  },
  {
    name: 'an artifact with two versions',
    area: 'artifacts',
    root: (kit) =>
      kit.llm({
        name: 'writer',
        tools: [
          kit.tool({
            name: 'write',
            description: 'Writes a note.',
            parameters: z.object({ text: z.string() }),
            execute: async ({ text }, view) => ({
              version: await view.saveText('note.txt', String(text)),
              now: (await view.loadText('note.txt')) ?? '',
            }),
          }),
        ],
        script: [
          { calls: [{ name: 'write', args: { text: 'one' } }] },
          { calls: [{ name: 'write', args: { text: 'two' } }] },
          { text: 'Both are written.' },
        ],
      }),
    turns: ['Write.'],
  },
  {
    name: 'a model that fails',
    area: 'agents',
    root: (kit) => kit.llm({ name: 'desk', script: [{ fails: 'The model is broken.' }] }),
    turns: ['Go.'],
  },
  {
    name: 'nested loops of which a tool leaves the inner one',
    area: 'loops',
    root: (kit) =>
      kit.loop({
        name: 'outer',
        maxIterations: 1,
        subAgents: [
          kit.loop({
            name: 'inner',
            maxIterations: 5,
            subAgents: [
              kit.llm({
                name: 'worker',
                tools: [
                  kit.tool({
                    name: 'leave',
                    description: 'Leaves the loop.',
                    execute: (_, view) => {
                      view.escalate();
                      return { left: true };
                    },
                  }),
                ],
                script: [{ text: 'Working.' }, { calls: [{ name: 'leave' }] }, { text: 'Left.' }],
              }),
            ],
          }),
        ],
      }),
    turns: ['Go.'],
  },
];
