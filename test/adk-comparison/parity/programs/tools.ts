import { z } from 'zod';
import type { Kit, Program, Ref } from '../kit.ts';

function findOrder(kit: Kit): Ref {
  return kit.tool({
    name: 'find_order',
    description: 'Finds an order.',
    parameters: z.object({
      order: z.string().describe('The number of the order.'),
      limit: z.number().int().optional(),
    }),
    execute: ({ order = '' }) => ({ order, cents: 4200 }),
  });
}

const callOrder = { calls: [{ name: 'find_order', args: { order: 'A-7' } }] };

/** Function tools and their results. */
export const toolPrograms: readonly Program[] = [
  {
    name: 'one tool call',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [findOrder(kit)],
        script: [callOrder, { text: 'It costs 42.00.' }],
      }),
    turns: ['What does A-7 cost?'],
  },
  {
    name: 'a tool call in each of two turns',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [findOrder(kit)],
        script: [
          { text: 'I look.', ...callOrder },
          { text: 'It costs 42.00.' },
          callOrder,
          { text: 'Still 42.00.' },
        ],
      }),
    turns: ['What does A-7 cost?', 'And now?'],
  },
  {
    name: 'two calls in one answer',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [findOrder(kit)],
        script: [
          {
            calls: [
              { name: 'find_order', args: { order: 'A-7' } },
              { name: 'find_order', args: { order: 'B-8' } },
            ],
          },
          { text: 'Both cost 42.00.' },
        ],
      }),
    turns: ['What do A-7 and B-8 cost?'],
  },
  {
    name: 'a tool that writes state',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({
            name: 'remember',
            description: 'Remembers a name.',
            parameters: z.object({ name: z.string() }),
            execute: ({ name = null }, view) => {
              view.set('name', name);
              view.set('user:name', name);
              return { saved: true };
            },
          }),
        ],
        script: [{ calls: [{ name: 'remember', args: { name: 'Ada' } }] }, { text: 'Saved.' }],
      }),
    turns: ['I am Ada.'],
  },
  {
    name: 'results that are not objects',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({ name: 'text', description: 'A text.', execute: () => 'words' }),
          kit.tool({ name: 'list', description: 'A list.', execute: () => [1, 2] }),
          kit.tool({ name: 'nothing', description: 'Nothing.', execute: () => undefined }),
        ],
        script: [
          { calls: [{ name: 'text' }] },
          { calls: [{ name: 'list' }] },
          { calls: [{ name: 'nothing' }] },
          { text: 'Done.' },
        ],
      }),
    turns: ['Go.'],
  },
  {
    name: 'a tool that throws',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({
            name: 'charge',
            description: 'Charges a card.',
            execute: () => {
              throw new Error('The card is blocked.');
            },
          }),
        ],
        script: [{ calls: [{ name: 'charge' }] }, { text: 'That failed.' }],
      }),
    turns: ['Pay.'],
  },
  {
    name: 'a tool that does not exist',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [findOrder(kit)],
        script: [{ calls: [{ name: 'find_ordr', args: {} }] }, { text: 'Sorry.' }],
      }),
    turns: ['Go.'],
  },
  {
    name: 'skip summarization',
    area: 'tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({
            name: 'report',
            description: 'Makes a report.',
            execute: (_, view) => {
              view.skipSummarization();
              return { report: 'All is well.' };
            },
          }),
        ],
        script: [{ calls: [{ name: 'report' }] }],
      }),
    turns: ['Report.'],
  },
  {
    name: 'a confirmation that is given',
    area: 'confirmations',
    root: (kit) => confirmedRefund(kit),
    turns: ['Refund A-7.', { confirm: 'refund', confirmed: true }],
  },
  {
    name: 'a confirmation that is refused',
    area: 'confirmations',
    root: (kit) => confirmedRefund(kit),
    turns: ['Refund A-7.', { confirm: 'refund', confirmed: false }],
  },
  {
    name: 'a long-running tool',
    area: 'long-running tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.longRunningTool({
            name: 'ask_manager',
            description: 'Asks the manager.',
            parameters: z.object({ question: z.string() }),
            execute: () => ({ status: 'pending', ticket: 7 }),
          }),
        ],
        script: [
          { calls: [{ name: 'ask_manager', args: { question: 'Refund?' } }] },
          { text: 'I asked the manager.' },
          { text: 'The manager agrees.' },
        ],
      }),
    turns: ['Refund A-7.', { answer: 'ask_manager', response: { status: 'approved' } }],
  },
];

function confirmedRefund(kit: Kit): Ref {
  return kit.llm({
    name: 'desk',
    tools: [
      kit.tool({
        name: 'refund',
        description: 'Refunds an order.',
        parameters: z.object({ order: z.string() }),
        requireConfirmation: true,
        execute: ({ order = '' }) => ({ refunded: order }),
      }),
    ],
    script: [{ calls: [{ name: 'refund', args: { order: 'A-7' } }] }, { text: 'Done.' }],
  });
}
