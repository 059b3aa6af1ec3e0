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
];
