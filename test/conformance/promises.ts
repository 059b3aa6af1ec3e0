/**
 * The promises of a managed runtime, each with its evidence: fixtures by id, and tests by file and part of their
 * name.
 */
export interface Promised {
  readonly number: number;
  readonly promise: string;
  readonly fixtures: readonly string[];
  readonly tests?: readonly (readonly [file: string, name: string])[];
}

const managed = (file: string, name: string): readonly [string, string] => [
  `test/managed/${file}.test.ts`,
  name,
];

export const promises: readonly Promised[] = [
  {
    number: 1,
    promise: 'crash durability',
    fixtures: ['F-5', 'P-01'],
    tests: [
      ['test/conformance/kills.test.ts', 'loses no event that a client has seen'],
      ['test/long/conformance.test.ts', 'any commit loses no event and repeats none'],
    ],
  },
  {
    number: 2,
    promise: 'resume after a restart',
    fixtures: ['P-02', 'P-25'],
    tests: [
      managed(
        'many-sessions',
        'a hundred calls wait across a restart, and each gets its own result',
      ),
      [
        'test/long/managed.test.ts',
        'a thousand calls wait across a restart, and each gets its own result',
      ],
    ],
  },
  { number: 3, promise: 'an atomic step', fixtures: ['P-03'] },
  {
    number: 4,
    promise: 'replay from the first event without gaps or repetitions',
    fixtures: ['F-6', 'P-04'],
    tests: [
      managed(
        'streaming',
        'a stream from any position delivers stored and new events in order, without gaps',
      ),
      managed(
        'streaming',
        'a stalled reader is closed with its cursor, and other readers are not affected',
      ),
    ],
  },
  {
    number: 5,
    promise: 'the round trip of a custom tool',
    fixtures: ['F-3', 'P-05', 'P-26'],
    tests: [
      managed(
        'parking',
        'a client can answer a call by its call id, its event id or the id of the provider',
      ),
      managed(
        'answer-concurrently',
        'when two processes answer the same call, one answer is accepted and reaches the model',
      ),
    ],
  },
  {
    number: 6,
    promise: 'confirmation',
    fixtures: ['F-4', 'P-06'],
    tests: [
      managed(
        'services',
        'a guardrail runs before approval, so the approved arguments are those that run',
      ),
    ],
  },
  { number: 7, promise: 'denial by policy', fixtures: ['P-07'] },
  {
    number: 8,
    promise: 'an interrupt of a running turn, after which the session continues',
    fixtures: ['F-7', 'F-7-stream', 'F-7-tool', 'P-08'],
    tests: [
      managed(
        'random-session',
        'an interrupt that arrives after its turn ended does not interrupt the next turn',
      ),
    ],
  },
  {
    number: 9,
    promise: 'retry, rescheduling and failure',
    fixtures: ['P-09'],
    tests: [managed('retry', 'the retry delay that the provider requests is used')],
  },
  { number: 10, promise: 'completion', fixtures: ['P-10'] },
  {
    number: 11,
    promise: 'MCP',
    fixtures: ['F-2', 'P-11'],
    tests: [
      [
        'test/mcp/managed-source.test.ts',
        'the MCP servers of an agent definition are opened, over stdio or HTTP, and closed',
      ],
    ],
  },
  { number: 12, promise: 'skills', fixtures: ['P-12'] },
  {
    number: 13,
    promise: 'outcomes',
    fixtures: ['P-13'],
    tests: [
      managed('outcomes', 'work is revised with the feedback of the grader until it is satisfied'),
    ],
  },
  {
    number: 14,
    promise: 'results of tools that the client hosts',
    fixtures: ['P-28'],
    tests: [managed('parking', 'in a self-hosted environment the client runs the built-in tools')],
  },
  {
    number: 15,
    promise: 'five providers',
    fixtures: ['F-8'],
    tests: [
      ['test/conformance/parity.test.ts', 'produces the expected events, except for usage'],
      ['src/models/resolve-model.test.ts', 'a model name determines its provider'],
    ],
  },
  {
    number: 16,
    promise: 'fixtures that run on a store and a model of your choice',
    fixtures: ['F-1', 'F-2', 'F-3', 'F-4', 'F-5', 'F-6', 'F-7', 'F-8'],
    tests: [
      [
        'test/conformance/promises.test.ts',
        'npm run conformance plays fixtures on a store of your choice',
      ],
    ],
  },
  { number: 17, promise: 'the stop reason max_tokens', fixtures: ['P-17'] },
  {
    number: 18,
    promise: 'the environment',
    fixtures: ['P-29'],
    tests: [
      managed('agents', 'an environment that none of the tools would use is rejected'),
      [
        'test/tools/built-in-managed.test.ts',
        'the built-in tools of a managed session use its environment',
      ],
    ],
  },
  {
    number: 19,
    promise: 'web_search and web_fetch',
    fixtures: ['P-19'],
    tests: [
      [
        'src/tools/built-in/web/web-search-tool.test.ts',
        'web_search sends a request in the format of Brave Search',
      ],
      ['src/tools/built-in/web/web-fetch-tool.test.ts', 'connects to the address that was checked'],
    ],
  },
  {
    number: 20,
    promise: 'schemas in the dialect of each provider',
    fixtures: ['P-20'],
    tests: [
      [
        'src/models/schema/normalize-schema.test.ts',
        'a schema for Gemini has the keywords that Gemini supports',
      ],
    ],
  },
  {
    number: 21,
    promise: 'recovery of a session whose turn fails',
    fixtures: ['P-21'],
    tests: [
      managed(
        'poisoned',
        'a message that crashes three processes ends with an error, and the next message runs',
      ),
    ],
  },
  { number: 22, promise: 'content of every kind', fixtures: ['P-22'] },
  {
    number: 23,
    promise: 'permanent archiving',
    fixtures: ['P-23'],
    tests: [
      managed(
        'status',
        'archiving stops the turn, is the last event of the log, and rejects later input',
      ),
    ],
  },
];
