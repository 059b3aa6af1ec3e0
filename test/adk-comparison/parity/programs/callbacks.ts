import type { Program } from '../kit.ts';

/** Callbacks of agents, models and tools. */
export const callbackPrograms: readonly Program[] = [
  {
    name: 'beforeAgent replaces the run',
    area: 'callbacks',
    root: (kit) => kit.llm({ name: 'assistant', beforeAgent: () => 'Closed today.', script: [] }),
    turns: ['Hello!'],
  },
  {
    name: 'beforeAgent writes state, afterAgent adds a message',
    area: 'callbacks',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        instruction: 'The visit is {visit}.',
        beforeAgent: (view) => {
          view.set('visit', 1);
          return undefined;
        },
        afterAgent: () => 'Goodbye.',
        script: [{ text: 'Good day.' }],
      }),
    turns: ['Hello!'],
  },
  {
    name: 'beforeModel answers',
    area: 'callbacks',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        beforeModel: (view) => {
          view.set('blocked', true);
          return 'I cannot say.';
        },
        script: [],
      }),
    turns: ['Hello!'],
  },
  {
    name: 'afterModel replaces the answer and writes state',
    area: 'callbacks',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        afterModel: (view, text) => {
          view.set('length', text.length);
          return text.toUpperCase();
        },
        script: [{ text: 'quiet', usage: { prompt: 4, candidates: 1 } }],
      }),
    turns: ['Hello!'],
  },
  {
    name: 'beforeTool answers, afterTool changes',
    area: 'callbacks',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        tools: [kit.tool({ name: 'count', description: 'Counts.', execute: () => ({ n: 1 }) })],
        beforeTool: (view) => (view.get('cached') === true ? { n: 10 } : undefined),
        afterTool: (view, response) => {
          view.set('cached', true);
          return { ...response, seen: true };
        },
        script: [{ calls: [{ name: 'count' }] }, { calls: [{ name: 'count' }] }, { text: 'Ten.' }],
      }),
    turns: ['Count.'],
  },
  {
    name: 'a plugin before the agent',
    area: 'plugins',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        beforeModel: () => 'Of the agent.',
        script: [],
      }),
    plugins: (kit) => [kit.plugin({ name: 'guard', beforeModel: () => 'Of the plugin.' })],
    turns: ['Hello!'],
  },
  {
    name: 'an afterAgent that escalates with a message',
    area: 'callbacks',
    root: (kit) =>
      kit.loop({
        name: 'again',
        maxIterations: 2,
        subAgents: [
          kit.llm({
            name: 'writer',
            afterAgent: (view) => {
              view.escalate();
              return 'That is enough.';
            },
            script: [{ text: 'Draft 1.' }, { text: 'Draft 2.' }],
          }),
        ],
      }),
    turns: ['Write.'],
  },
  {
    name: 'a beforeAgent that escalates in place of the agent',
    area: 'callbacks',
    root: (kit) =>
      kit.loop({
        name: 'again',
        maxIterations: 3,
        subAgents: [
          kit.llm({ name: 'writer', script: [{ text: 'Draft 1.' }, { text: 'Draft 2.' }] }),
          kit.llm({
            name: 'judge',
            beforeAgent: (view) => {
              const rounds = Number(view.get('rounds') ?? 0) + 1;
              view.set('rounds', rounds);
              if (rounds === 1) return 'Once more.';
              view.escalate();
              return 'Good.';
            },
            script: [],
          }),
        ],
      }),
    turns: ['Write.'],
  },
  {
    name: 'an afterAgent that escalates without a message',
    area: 'callbacks',
    root: (kit) =>
      kit.loop({
        name: 'again',
        maxIterations: 2,
        subAgents: [
          kit.llm({
            name: 'writer',
            afterAgent: (view) => {
              view.escalate();
              return undefined;
            },
            script: [{ text: 'Draft 1.' }, { text: 'Draft 2.' }],
          }),
        ],
      }),
    turns: ['Write.'],
  },
  {
    name: 'a global instruction of a plugin',
    area: 'plugins',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        description: 'Answers.',
        instruction: 'Answer {name}.',
        script: [{ text: 'Yes.' }],
      }),
    plugins: (kit) => [kit.globalInstructionPlugin('Be polite to {name}.')],
    state: { name: 'Ada' },
    turns: ['Hello!'],
  },
  {
    name: 'global instructions of a plugin and of the agent',
    area: 'plugins',
    root: (kit) =>
      kit.llm({
        name: 'front',
        globalInstruction: 'Be brief.',
        instruction: 'Take requests.',
        subAgents: [
          kit.llm({
            name: 'billing',
            description: 'Knows bills.',
            instruction: 'Explain bills.',
            script: [{ text: 'Five.' }],
          }),
        ],
        script: [{ calls: [{ name: 'transfer_to_agent', args: { agentName: 'billing' } }] }],
      }),
    plugins: (kit) => [kit.globalInstructionPlugin('Be polite.')],
    turns: ['How much?'],
  },
];
