import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { userContent, type Content } from '../../../src/core/index.ts';
import { MissingKeyError, UnsupportedFeatureError } from '../../../src/models/index.ts';
import { audioByteLength } from '../../../src/live/models/audio-format.ts';
import { geminiLive, type GeminiLiveOptions } from '../../../src/live/models/gemini/gemini-live.ts';
import type { LiveConfig } from '../../../src/live/models/live-config.ts';
import { LiveConnectionClosedError } from '../../../src/live/models/live-errors.ts';
import type { LiveModel } from '../../../src/live/models/live-model.ts';
import { openaiRealtime } from '../../../src/live/models/openai/openai-realtime.ts';
import type { LiveScript } from '../../../src/live/models/scripted/scripted-live-turn.ts';
import { SimulatedClock, systemClock } from '../../../src/net/index.ts';
import { assertLawful, converse, joinSaid, type Conversation } from './contract/live-harness.ts';
import { openGeminiServer } from './servers/gemini-server.ts';
import { openRealtimeServer } from './servers/realtime-server.ts';
import { openWireServer, type HttpRefusal, type WireServer } from './servers/wire-server.ts';

const key = 'test-key-123456';
const name = 'live-model';

type Options = Partial<GeminiLiveOptions>;

interface Protocol {
  readonly title: string;
  readonly openServer: (script: LiveScript) => Promise<WireServer>;
  readonly createModel: (port: number, options?: Options) => LiveModel;
  readonly unknownMessage: object;
  readonly keyHeader: string;
}

const protocols: readonly Protocol[] = [
  {
    title: 'geminiLive',
    openServer: async (script) =>
      openGeminiServer({ script, clock: systemClock, key, model: name }),
    createModel: (port, options) =>
      geminiLive({ model: name, apiKey: key, baseUrl: `http://127.0.0.1:${port}`, ...options }),
    unknownMessage: { somethingNew: {} },
    keyHeader: 'x-goog-api-key',
  },
  {
    title: 'openaiRealtime',
    openServer: async (script) =>
      openRealtimeServer({ script, clock: systemClock, key, model: name }),
    createModel: (port, options) =>
      openaiRealtime({
        model: name,
        apiKey: key,
        baseUrl: `http://127.0.0.1:${port}/v1`,
        ...options,
      }),
    unknownMessage: { type: 'something.new' },
    keyHeader: 'authorization',
  },
];

const text = (words: string) => ({ kind: 'text', content: userContent(words) }) as const;

/** Waits for the network, without a time. */
async function until(accepts: () => boolean): Promise<void> {
  while (!accepts()) await nextTurn();
}

/** A server that accepts connections and does nothing, or refuses them by HTTP. */
async function openSilentServer(refusal?: HttpRefusal): Promise<WireServer> {
  return openWireServer({
    refuse: () => refusal,
    accept: () => ({ onMessage: () => undefined, onClose: () => undefined }),
  });
}

const ignoring = { onSignal: () => undefined, onMedia: () => undefined };

for (const { title, openServer, createModel, unknownMessage, keyHeader } of protocols) {
  describe(`${title} on the wire`, () => {
    const withServer = async (
      script: LiveScript,
      check: (
        server: WireServer,
        open: (options?: Options) => Promise<Conversation>,
      ) => Promise<void>,
    ): Promise<void> => {
      const server = await openServer(script);
      const open = async (options?: Options): Promise<Conversation> =>
        converse(createModel(server.port, options));
      try {
        await check(server, open);
      } finally {
        await server.close();
      }
    };

    for (const raw of ['{', '', 'null', '[]', '"text"', '1']) {
      it(`a message ${JSON.stringify(raw)} closes the connection as a violation`, async () => {
        await withServer({ turns: [] }, async (server, open) => {
          const conversation = await open();
          server.sockets.at(-1)?.send(raw);
          const closed = await conversation.until('closed');
          assert.deepEqual([closed.reason, closed.retryable], ['protocol', true]);
          assertLawful(conversation);
        });
      });
    }

    it('a message of an unknown type is ignored with a diagnostic', async () => {
      await withServer({ turns: [{ text: 'Hi.' }] }, async (server, open) => {
        const conversation = await open();
        server.sockets.at(-1)?.send(JSON.stringify(unknownMessage));
        await conversation.connection.send(text('Hello'));
        await conversation.until('done');
        assert.deepEqual(
          conversation.diagnostics().map(({ kind }) => kind),
          ['unknown_message'],
        );
        await conversation.connection.close();
      });
    });

    it('a message above the limit closes the connection before it is read', async () => {
      await withServer({ turns: [] }, async (server, open) => {
        const conversation = await open({ limits: { maxMessageBytes: 20_000 } });
        server.sockets.at(-1)?.send(JSON.stringify({ ...unknownMessage, x: 'x'.repeat(30_000) }));
        const closed = await conversation.until('closed');
        assert.deepEqual([closed.reason, closed.retryable], ['limit', false]);
      });
    });

    it('opening fails with a violation if the first message is malformed or too large', async () => {
      for (const raw of ['{', 'x'.repeat(30_000)]) {
        const server = await openWireServer({
          refuse: () => undefined,
          accept: (socket) => {
            socket.send(raw);
            return { onMessage: () => undefined, onClose: () => undefined };
          },
        });
        const opening = converse(createModel(server.port, { limits: { maxMessageBytes: 20_000 } }));
        await assert.rejects(opening, { code: 'model_protocol' });
        await server.close();
      }
    });

    it('a wrong key is an auth error that does not contain the key', async () => {
      await withServer({ turns: [] }, async (_server, open) => {
        const wrong = 'wrong-key-987654';
        await assert.rejects(open({ apiKey: wrong }), (error: Error & { code?: string }) => {
          assert.equal(error.code, 'model_auth');
          assert.ok(!String(error.stack).includes(wrong), error.message);
          assert.match(error.message, /\[redacted\]/);
          return true;
        });
      });
    });

    it('an unknown model is not found', async () => {
      await withServer({ turns: [] }, async (_server, open) => {
        await assert.rejects(open({ model: 'no-model' }), { code: 'model_not_found' });
      });
    });

    it('the key is a header and in no URL; a function gives it for each connection', async () => {
      await withServer({ turns: [] }, async (server, open) => {
        const asked: string[] = [];
        const apiKey: GeminiLiveOptions['apiKey'] = ({ baseUrl }) => {
          asked.push(baseUrl);
          return key;
        };
        for (let n = 0; n < 2; n++) await (await open({ apiKey })).connection.close();
        assert.equal(asked.length, 2);
        for (const { url, headers } of server.upgrades) {
          assert.ok(!url?.includes(key));
          assert.ok(String(headers[keyHeader]).endsWith(key));
          assert.equal(headers['sec-websocket-extensions'], undefined, 'no compression');
        }
      });
    });

    it('a key of the environment goes to the provider and its variable only', async () => {
      await withServer({ turns: [] }, async (server) => {
        const { port } = server;
        const path = title === 'geminiLive' ? '' : '/v1';
        const baseUrl = `http://127.0.0.1:${port}${path}`;
        const env = { GEMINI_API_KEY: key, OPENAI_API_KEY: key };
        const create = title === 'geminiLive' ? geminiLive : openaiRealtime;
        await assert.rejects(converse(create({ model: name, baseUrl, env })), MissingKeyError);
        assert.equal(server.upgrades.length, 0);
        const configured = { ...env, GEMINI_BASE_URL: baseUrl, OPENAI_BASE_URL: baseUrl };
        const { connection } = await converse(create({ model: name, env: configured }));
        await connection.close();
      });
    });

    it('a base URL from a third party must be at an allowed origin, with a public address', async () => {
      await withServer({ turns: [] }, async (server, open) => {
        const modelOrigins = ['https://*.example.com', `http://127.0.0.1:${server.port}`];
        await (await open({ modelOrigins })).connection.close();
        await assert.rejects(open({ modelOrigins, baseUrl: 'http://127.0.0.1:9' }), {
          code: 'invalid_input',
        });
        const resolve = async () => ['10.0.0.7'];
        const baseUrl = 'https://live.example.com';
        await assert.rejects(open({ modelOrigins, baseUrl, resolve }), { code: 'address_refused' });
        await assert.rejects(open({ baseUrl: 'ftp://127.0.0.1' }), { code: 'invalid_input' });
        await assert.rejects(open({ baseUrl: 'http://user:pass@127.0.0.1' }), {
          code: 'invalid_input',
        });
      });
    });

    for (const [status, code] of [
      [302, 'model_bad_request'],
      [401, 'model_auth'],
      [404, 'model_not_found'],
      [429, 'model_rate_limit'],
      [500, 'model_server'],
      [503, 'model_overloaded'],
    ] as const) {
      it(`status ${status} instead of a WebSocket is ${code}`, async () => {
        const server = await openSilentServer({ status, body: `sorry ${key}` });
        await assert.rejects(
          converse(createModel(server.port)),
          (error: Error & { code?: string }) => {
            assert.equal(error.code, code, error.message);
            assert.ok(!error.message.includes(key));
            return true;
          },
        );
        await server.close();
      });
    }

    it('an address where nobody listens is a network error that may be retried', async () => {
      const server = await openSilentServer();
      await server.close();
      await assert.rejects(converse(createModel(server.port)), {
        code: 'model_network',
        retryable: true,
      });
    });

    it('a server that does not answer is given up after the time of the clock', async () => {
      const server = await openSilentServer();
      const clock = new SimulatedClock();
      const opening = converse(createModel(server.port, { clock }));
      await until(() => server.sockets.length === 1);
      clock.advance(10_000);
      await assert.rejects(opening, { code: 'model_network' });
      await server.close();
    });

    it('an abort ends opening, and the socket with it', async () => {
      const server = await openSilentServer();
      const controller = new AbortController();
      const model = createModel(server.port);
      const opening = model.open({}, { signal: controller.signal, listener: ignoring });
      await until(() => server.sockets.length === 1);
      const closed = new Promise((resolve) => server.sockets[0]?.on('close', resolve));
      controller.abort();
      await assert.rejects(opening, { code: 'model_aborted' });
      await closed;
      await server.close();
    });

    it('an abort ends the wait for a key, and for an address', async () => {
      await withServer({ turns: [] }, async (server) => {
        const never = async (): Promise<never> => new Promise<never>(() => undefined);
        const baseUrl = 'https://live.example.com';
        const modelOrigins = ['https://*.example.com'];
        for (const options of [{ apiKey: never }, { baseUrl, modelOrigins, resolve: never }]) {
          const controller = new AbortController();
          const model = createModel(server.port, options);
          const opening = model.open({}, { signal: controller.signal, listener: ignoring });
          await nextTurn();
          controller.abort();
          await assert.rejects(opening, { code: 'model_aborted' });
        }
        assert.equal(server.upgrades.length, 0);
      });
    });

    it('a minute of frames of 20 ms arrives at the model complete and in order', async () => {
      await withServer({ turns: [] }, async (server, open) => {
        const { connection, diagnostics } = await open();
        const before = server.received.length;
        const frameBytes = audioByteLength(connection.inputAudio, 20);
        for (let n = 0; n < 3_000; n++) {
          const frame = new Uint8Array(frameBytes);
          new DataView(frame.buffer).setUint16(0, n, true);
          assert.equal(connection.sendAudio(frame), true);
          if (n % 50 === 49) await until(() => connection.bufferedBytes() === 0);
        }
        await until(() => server.received.length === before + 3_000);
        const numbers = server.received.slice(before).map((message) => {
          const data = /"(?:data|audio)":"(?<data>[^"]+)"/.exec(JSON.stringify(message))?.groups;
          return Buffer.from(data?.['data'] ?? '', 'base64').readUInt16LE(0);
        });
        assert.ok(numbers.every((number, n) => number === n));
        assert.deepEqual(diagnostics(), []);
        await connection.close();
      });
    });

    it('a server that answers no pings is lost; one that does is not', async () => {
      await withServer({ turns: [] }, async (server, open) => {
        const clock = new SimulatedClock();
        const conversation = await open({ clock });
        const socket = server.sockets.at(-1);
        let pings = 0;
        socket?.on('ping' as 'pong', () => (pings += 1));
        for (let n = 1; n <= 5; n++) {
          clock.advance(20_000);
          await until(() => pings === n);
          // The pong is on its way: an answer to a message comes after it.
          socket?.send(JSON.stringify(unknownMessage));
          await until(() => conversation.diagnostics().length === n);
        }
        socket?.pause();
        clock.advance(60_000);
        const closed = await conversation.until('closed');
        assert.deepEqual([closed.reason, closed.retryable], ['lost', true]);
      });
    });

    it('audio is dropped while the server does not read, with one diagnostic, and flows again after', async () => {
      await withServer({ turns: [] }, async (server, open) => {
        const { connection, diagnostics } = await open({ limits: { maxBufferedBytes: 50_000 } });
        const socket = server.sockets.at(-1);
        socket?.pause();
        const frame = new Uint8Array(4_800);
        let sent = 0;
        while (connection.sendAudio(frame)) {
          sent += 1;
          assert.ok(sent < 100_000, 'the bound holds');
          if (sent % 100 === 0) await nextTurn();
        }
        assert.equal(connection.sendAudio(frame), false);
        assert.ok(connection.bufferedBytes() < 60_000);
        assert.deepEqual(
          diagnostics().map(({ kind }) => kind),
          ['audio_dropped'],
        );
        socket?.resume();
        await until(() => connection.bufferedBytes() === 0);
        assert.equal(connection.sendAudio(frame), true);
        await connection.close();
      });
    });

    it('a server that reads no commands is given up', async () => {
      await withServer({ turns: [] }, async (server, open) => {
        const limits = { maxBufferedBytes: 1_000, closeTimeoutMs: 1 };
        const { connection, until: untilSignal } = await open({ limits });
        server.sockets.at(-1)?.pause();
        const unsent = connection
          .send({ ...text('x'.repeat(20_000_000)), respond: false })
          .catch((error: unknown) => error);
        await assert.rejects(connection.send(text('Hello')), LiveConnectionClosedError);
        const closed = await untilSignal('closed');
        assert.deepEqual([closed.reason, closed.retryable], ['limit', false]);
        assert.ok((await unsent) instanceof LiveConnectionClosedError);
      });
    });

    it('a paused connection reports nothing until it is resumed', async () => {
      await withServer({ turns: [{ text: 'One two three' }] }, async (server, open) => {
        const { connection, media, until: untilSignal } = await open();
        connection.pause();
        const before = server.received.length;
        await connection.send(text('Hello'));
        await until(() => server.received.length > before);
        for (let n = 0; n < 50; n++) await nextTurn();
        assert.equal(media().length, 0);
        connection.resume();
        await untilSignal('done');
        assert.equal(media().length, 3);
        connection.pause();
        await connection.close();
      });
    });
  });
}

describe('geminiLive speaks BidiGenerateContent', () => {
  const withServer = async (
    script: LiveScript,
    check: (server: WireServer, model: LiveModel) => Promise<void>,
  ): Promise<void> => {
    const server = await openGeminiServer({ script, clock: systemClock, key, model: name });
    const baseUrl = `http://127.0.0.1:${server.port}/v1beta`;
    try {
      await check(server, geminiLive({ model: name, apiKey: key, baseUrl }));
    } finally {
      await server.close();
    }
  };

  it('the setup has the options, the tools and the history', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const history: readonly Content[] = [
        userContent('Hi'),
        {
          role: 'model',
          parts: [{ functionCall: { id: 'e1', name: 'f', args: {}, providerId: 'p1' } }],
        },
        {
          role: 'tool',
          parts: [{ functionResponse: { id: 'e1', name: 'f', response: { ok: true } } }],
        },
        {
          role: 'model',
          parts: [{ functionCall: { id: 'e2', name: 'f', args: {}, providerId: 'p2' } }],
        },
      ];
      const config: LiveConfig = {
        speechConfig: {
          voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } },
          languageCode: 'de-DE',
        },
        realtimeInputConfig: {
          automaticActivityDetection: {
            silenceDurationMs: 700,
            startOfSpeechSensitivity: 'START_SENSITIVITY_LOW',
          },
          turnCoverage: 'TURN_INCLUDES_ALL_INPUT',
        },
        inputAudioTranscription: { languageCodes: ['de-DE'] },
        outputAudioTranscription: null,
        contextWindowCompression: { triggerTokens: 9_000, slidingWindow: { targetTokens: 4_000 } },
        temperature: 0.5,
      };
      const tools = [
        {
          name: 'f',
          description: 'F.',
          parameters: { type: 'object', properties: {} },
          nonBlocking: true,
        },
      ];
      const { connection } = await converse(model, {
        instruction: 'Be brief.',
        history,
        tools,
        config,
      });
      await until(() => server.received.length === 2);
      assert.deepEqual(server.received, [
        {
          setup: {
            model: `models/${name}`,
            generationConfig: {
              responseModalities: ['AUDIO'],
              speechConfig: config.speechConfig,
              temperature: 0.5,
            },
            systemInstruction: { parts: [{ text: 'Be brief.' }] },
            tools: [
              {
                functionDeclarations: [
                  {
                    name: 'f',
                    description: 'F.',
                    parameters: { type: 'object', properties: {} },
                    behavior: 'NON_BLOCKING',
                  },
                ],
              },
            ],
            realtimeInputConfig: config.realtimeInputConfig,
            inputAudioTranscription: { languageCodes: ['de-DE'] },
            sessionResumption: {},
            contextWindowCompression: {
              triggerTokens: '9000',
              slidingWindow: { targetTokens: '4000' },
            },
            historyConfig: { initialHistoryInClientContent: true },
          },
        },
        {
          clientContent: {
            turns: [
              { role: 'user', parts: [{ text: 'Hi' }] },
              { role: 'model', parts: [{ functionCall: { id: 'p1', name: 'f', args: {} } }] },
              {
                role: 'user',
                parts: [{ functionResponse: { id: 'p1', name: 'f', response: { ok: true } } }],
              },
            ],
            turnComplete: true,
          },
        },
      ]);
      // The session does not know this call, so its result is a text.
      await connection.send({
        kind: 'tool-result',
        results: [{ callId: 'p2', name: 'f', response: { ok: 1 } }],
      });
      await until(() => server.received.length === 3);
      assert.deepEqual(server.received[2], { realtimeInput: { text: 'Result of f: {"ok":1}' } });
      await connection.close();
    });
  });

  it('proactivity and affective dialog use v1alpha; transparent resumption is refused by name', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const config = { proactivity: { proactiveAudio: true }, enableAffectiveDialog: true };
      await (await converse(model, { config })).connection.close();
      assert.match(server.upgrades[0]?.url ?? '', /\.v1alpha\./);
      const transparent = { sessionResumption: { transparent: true } };
      await assert.rejects(converse(model, { config: transparent }), {
        code: 'model_unsupported',
        feature: 'sessionResumption.transparent',
      });
      const warned = await converse(model, { config: { ...transparent, onUnsupported: 'warn' } });
      assert.equal(warned.diagnostics()[0]?.kind, 'unsupported');
      await warned.connection.close();
    });
  });

  it('both alphabets of base64 are read; other media is ignored with a diagnostic', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const conversation = await converse(model);
      const bytes = Buffer.from([251, 255, 190, 1]);
      const send = (message: object): void => server.sockets[0]?.send(JSON.stringify(message));
      const sendPart = (mimeType: string, data: string): void =>
        send({ serverContent: { modelTurn: { parts: [{ inlineData: { mimeType, data } }] } } });
      sendPart('audio/pcm;rate=24000', bytes.toString('base64'));
      sendPart('audio/pcm', bytes.toString('base64url'));
      sendPart('audio/pcm;rate=48000', bytes.toString('base64'));
      sendPart('video/mp4', 'AAAA');
      send({
        serverContent: {
          modelTurn: { parts: [{ executableCode: { code: '1' } }, { thoughtSignature: 'x' }] },
        },
      });
      send({ serverContent: { turnComplete: true } });
      await conversation.until('done');
      assert.deepEqual(
        conversation.media().map(({ data }) => Buffer.from(data)),
        [bytes, bytes],
      );
      assert.deepEqual(
        conversation.diagnostics().map(({ kind }) => kind),
        ['unexpected_value', 'unexpected_value', 'unexpected_value'],
      );
      await conversation.connection.close();
    });
  });

  it('long transcripts and arguments never make a signal too large', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const conversation = await converse(model);
      const send = (message: object): void => server.sockets[0]?.send(JSON.stringify(message));
      const long = '\u0001😀'.repeat(20_000);
      send({ serverContent: { inputTranscription: { text: long } } });
      send({ serverContent: { modelTurn: { parts: [{ text: long }] } } });
      send({
        toolCall: {
          functionCalls: [
            { id: 'a', name: 'f', args: { x: long } },
            { id: 'b', name: 'f', args: { y: 1 } },
          ],
        },
      });
      const { calls } = await conversation.until('call');
      assert.match(calls[0]?.argsError?.message ?? '', /characters/);
      assert.deepEqual(calls[1], { id: 'b', name: 'f', args: { y: 1 } });
      await conversation.until('done');
      assert.equal(joinSaid(conversation.signals(), 'r1'), long);
      const heard = conversation
        .signals()
        .flatMap((signal) => (signal.kind === 'heard' ? signal.text : []));
      assert.equal(heard.join(''), long);
      assert.ok(heard.length > 1);
      assertLawful(conversation);
      await conversation.connection.close();
    });
  });

  it('a call without an id is a violation; too many calls are, too', async () => {
    const calls = Array.from({ length: 65 }, (_, n) => ({ id: `c${n}`, name: 'f', args: {} }));
    for (const functionCalls of [[{ name: 'f' }], calls]) {
      await withServer({ turns: [] }, async (server, model) => {
        const conversation = await converse(model);
        server.sockets[0]?.send(JSON.stringify({ toolCall: { functionCalls } }));
        assert.equal((await conversation.until('closed')).reason, 'protocol');
      });
    }
  });

  it('a call that the model makes after a cut is a reply of its own', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const conversation = await converse(model);
      const send = (message: object): void => server.sockets[0]?.send(JSON.stringify(message));
      send({
        serverContent: {
          modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm', data: 'AAAA' } }] },
        },
      });
      await conversation.until('begun');
      await conversation.connection.send({ kind: 'cut' });
      send({ toolCall: { functionCalls: [{ id: 'c', name: 'f', args: {} }] } });
      await conversation.until('done', 2);
      assert.deepEqual(
        conversation
          .signals()
          .flatMap((signal) => ('reply' in signal ? [[signal.kind, signal.reply]] : [])),
        [
          ['begun', 'r1'],
          ['interrupted', 'r1'],
          ['done', 'r1'],
          ['begun', 'r2'],
          ['call', 'r2'],
          ['done', 'r2'],
        ],
      );
      assertLawful(conversation);
      await conversation.connection.close();
    });
  });

  it('a turn without content is an empty reply: the model chose to stay silent', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const conversation = await converse(model);
      for (const message of [
        { voiceActivity: { voiceActivityType: 'ACTIVITY_START' } },
        { serverContent: { interrupted: true } },
        { serverContent: { turnComplete: true } },
      ])
        server.sockets[0]?.send(JSON.stringify(message));
      await conversation.until('done');
      assert.deepEqual(
        conversation.signals().map(({ kind }) => kind),
        ['voice', 'begun', 'done'],
      );
      await conversation.connection.close();
    });
  });

  it('close codes and reasons are told apart', async () => {
    for (const [code, reason, expected, retryable] of [
      [1008, 'Connection aborted: session duration expired after a GoAway', 'go-away', true],
      [1008, 'Operation is not implemented, or supported, or enabled.', 'refused', false],
      [1007, 'API key expired. Please renew the API key.', 'refused', false],
      [1011, 'You exceeded your current quota', 'refused', true],
      [1011, 'Internal error encountered.', 'lost', true],
      [1001, '', 'lost', true],
    ] as const) {
      await withServer({ turns: [] }, async (server, model) => {
        const conversation = await converse(model);
        server.sockets[0]?.close(code, reason);
        const closed = await conversation.until('closed');
        assert.deepEqual(
          [closed.reason, closed.retryable, closed.code],
          [expected, retryable, code],
        );
      });
    }
  });
});

describe('openaiRealtime speaks the Realtime API', () => {
  const withServer = async (
    script: LiveScript,
    check: (server: WireServer, model: LiveModel) => Promise<void>,
    clock: SimulatedClock | typeof systemClock = systemClock,
  ): Promise<void> => {
    const server = await openRealtimeServer({ script, clock, key, model: name });
    const baseUrl = `http://127.0.0.1:${server.port}/v1`;
    try {
      // A day passes here at once, without a pong.
      const limits = { pingIntervalMs: 86_400_000 };
      await check(server, openaiRealtime({ model: name, apiKey: key, baseUrl, clock, limits }));
    } finally {
      await server.close();
    }
  };

  it('the session has the options and the tools, and the history follows as items', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const history: readonly Content[] = [
        userContent('Hi'),
        {
          role: 'model',
          parts: [
            { text: 'Hm', thought: true },
            { text: 'Hello.' },
            { functionCall: { id: 'e1', name: 'f', args: { a: 1 }, providerId: 'p1' } },
          ],
        },
        {
          role: 'tool',
          parts: [{ functionResponse: { id: 'e1', name: 'f', response: { ok: true } } }],
        },
      ];
      const config: LiveConfig = {
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'marin' } } },
        realtimeInputConfig: {
          automaticActivityDetection: {
            silenceDurationMs: 700,
            prefixPaddingMs: 200,
            startOfSpeechSensitivity: 'START_SENSITIVITY_LOW',
          },
          activityHandling: 'NO_INTERRUPTION',
        },
        inputAudioTranscription: { languageCodes: ['de'] },
        contextWindowCompression: { triggerTokens: 8_000, slidingWindow: { targetTokens: 2_000 } },
        maxOutputTokens: 500,
      };
      const tools = [
        { name: 'f', description: 'F.', parameters: { type: 'object', properties: {} } },
      ];
      const { connection } = await converse(model, {
        instruction: 'Be brief.',
        history,
        tools,
        config,
      });
      await until(() => server.received.length === 5);
      const format = { type: 'audio/pcm', rate: 24_000 };
      assert.deepEqual(server.received, [
        {
          type: 'session.update',
          session: {
            type: 'realtime',
            output_modalities: ['audio'],
            instructions: 'Be brief.',
            audio: {
              input: {
                format,
                transcription: { model: 'gpt-4o-mini-transcribe', language: 'de' },
                turn_detection: {
                  type: 'server_vad',
                  create_response: true,
                  interrupt_response: false,
                  threshold: 0.7,
                  prefix_padding_ms: 200,
                  silence_duration_ms: 700,
                },
              },
              output: { format, voice: 'marin' },
            },
            tools: [
              {
                type: 'function',
                name: 'f',
                description: 'F.',
                parameters: { type: 'object', properties: {} },
              },
            ],
            max_output_tokens: 500,
            truncation: {
              type: 'retention_ratio',
              retention_ratio: 0.25,
              token_limits: { post_instructions: 8_000 },
            },
          },
        },
        {
          type: 'conversation.item.create',
          item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        },
        {
          type: 'conversation.item.create',
          item: {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Hello.' }],
          },
        },
        {
          type: 'conversation.item.create',
          item: { type: 'function_call', call_id: 'p1', name: 'f', arguments: '{"a":1}' },
        },
        {
          type: 'conversation.item.create',
          item: { type: 'function_call_output', call_id: 'p1', output: '{"ok":true}' },
        },
      ]);
      await connection.close();
    });
  });

  it('options that the protocol does not have are refused by name', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const detection = (members: object): LiveConfig => ({
        realtimeInputConfig: { automaticActivityDetection: members },
      });
      const refused: readonly (readonly [LiveConfig, string])[] = [
        [{ speechConfig: { languageCode: 'de-DE' } }, 'speechConfig.languageCode'],
        [
          detection({ endOfSpeechSensitivity: 'END_SENSITIVITY_LOW' }),
          'realtimeInputConfig.automaticActivityDetection.endOfSpeechSensitivity',
        ],
        [
          { realtimeInputConfig: { turnCoverage: 'TURN_INCLUDES_ALL_INPUT' } },
          'realtimeInputConfig.turnCoverage',
        ],
        [{ enableAffectiveDialog: true }, 'enableAffectiveDialog'],
        [{ proactivity: { proactiveAudio: true } }, 'proactivity.proactiveAudio'],
        [{ sessionResumption: {} }, 'sessionResumption'],
        [
          { contextWindowCompression: { slidingWindow: { targetTokens: 1 } } },
          'contextWindowCompression.slidingWindow.targetTokens',
        ],
        [{ temperature: 1 }, 'temperature'],
        [
          { inputAudioTranscription: { languageCodes: ['de', 'en'] } },
          'inputAudioTranscription.languageCodes',
        ],
        [
          { outputAudioTranscription: { languageCodes: ['de'] } },
          'outputAudioTranscription.languageCodes',
        ],
      ];
      for (const [config, feature] of refused) {
        await assert.rejects(converse(model, { config }), { code: 'model_unsupported', feature });
      }
      assert.equal(server.upgrades.length, 0, 'nothing was sent');
      const config: LiveConfig = {
        temperature: 1,
        enableAffectiveDialog: true,
        onUnsupported: 'warn',
      };
      const { connection, diagnostics } = await converse(model, { config });
      assert.equal(diagnostics().length, 2);
      const willContinue = connection.send({
        kind: 'tool-result',
        results: [{ callId: 'c', name: 'f', response: {}, willContinue: true }],
      });
      await assert.rejects(willContinue, UnsupportedFeatureError);
      await assert.rejects(
        connection.send({ kind: 'activity', edge: 'started' }),
        UnsupportedFeatureError,
      );
      await connection.close();
    });
  });

  it('go-away comes a minute before the session expires, on the clock', async () => {
    const clock = new SimulatedClock(1_000_000);
    await withServer(
      { turns: [] },
      async (_server, model) => {
        const conversation = await converse(model);
        clock.advance(3_539_000);
        assert.deepEqual(conversation.signals(), []);
        clock.advance(1_000);
        assert.deepEqual(conversation.signals(), [{ kind: 'go-away', timeLeftMs: 60_000 }]);
        clock.advance(60_000);
        const closed = await conversation.until('closed');
        assert.deepEqual([closed.reason, closed.retryable], ['go-away', true]);
      },
      clock,
    );
  });

  it('a reply that is requested during another one follows it', async () => {
    const turns = [{ text: 'One two three', wordDelayMs: 5 }, { text: 'Then.' }];
    await withServer({ turns }, async (_server, model) => {
      const { connection, until: untilSignal, signals, diagnostics } = await converse(model);
      await connection.send({ kind: 'respond' });
      await untilSignal('begun');
      await connection.send({ kind: 'respond' });
      await connection.send({ kind: 'nudge', instruction: 'Say something.' });
      const { reply } = await untilSignal('done', 2);
      assert.equal(joinSaid(signals(), reply), 'Then.');
      assert.deepEqual(diagnostics(), []);
      await connection.close();
    });
  });

  it('a call that the model makes after a cut is a reply of its own', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const conversation = await converse(model);
      const send = (message: object): void => server.sockets[0]?.send(JSON.stringify(message));
      send({ type: 'response.created', response: { id: 'r' } });
      await conversation.until('begun');
      await conversation.connection.send({ kind: 'cut' });
      const output = [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }];
      send({ type: 'response.done', response: { id: 'r', status: 'completed', output } });
      await conversation.until('done', 2);
      assert.deepEqual(
        conversation
          .signals()
          .flatMap((signal) => ('reply' in signal ? [[signal.kind, signal.reply]] : [])),
        [
          ['begun', 'r1'],
          ['interrupted', 'r1'],
          ['done', 'r1'],
          ['begun', 'r2'],
          ['call', 'r2'],
          ['done', 'r2'],
        ],
      );
      assertLawful(conversation);
      await conversation.connection.close();
    });
  });

  it('arguments that are not a JSON object answer the call; an unknown response is ignored', async () => {
    await withServer({ turns: [] }, async (server, model) => {
      const conversation = await converse(model);
      const send = (message: object): void => server.sockets[0]?.send(JSON.stringify(message));
      const call = (id: string, args: string): object => ({
        type: 'function_call',
        call_id: id,
        name: 'f',
        arguments: args,
      });
      send({
        type: 'response.done',
        response: { id: 'other', status: 'completed', output: [call('x', '{}')] },
      });
      send({
        type: 'response.output_audio.delta',
        response_id: 'other',
        item_id: 'i',
        delta: 'AAAA',
      });
      send({ type: 'response.created', response: { id: 'r' } });
      send({
        type: 'response.done',
        response: {
          id: 'r',
          status: 'completed',
          output: [call('a', '{"x":'), call('b', '[1]'), call('c', '')],
        },
      });
      const { calls } = await conversation.until('call');
      assert.deepEqual(
        calls.map(({ id, args, argsError }) => [id, args, argsError?.raw]),
        [
          ['a', {}, '{"x":'],
          ['b', {}, '[1]'],
          ['c', {}, undefined],
        ],
      );
      assert.deepEqual(conversation.media(), []);
      assert.equal(conversation.diagnostics()[0]?.kind, 'unexpected_value');
      await conversation.connection.close();
    });
  });

  it('an error of the server is a diagnostic without the key, and the connection stays open', async () => {
    await withServer({ turns: [{ text: 'Hi.' }] }, async (server, model) => {
      const conversation = await converse(model);
      const error = { type: 'invalid_request_error', code: 'invalid_value', message: `bad ${key}` };
      server.sockets[0]?.send(JSON.stringify({ type: 'error', error }));
      await conversation.connection.send(text('Hello'));
      await conversation.until('done');
      const [diagnostic] = conversation.diagnostics();
      assert.equal(diagnostic?.kind, 'server_error');
      assert.ok(!diagnostic.message.includes(key), diagnostic.message);
      await conversation.connection.close();
    });
  });
});
