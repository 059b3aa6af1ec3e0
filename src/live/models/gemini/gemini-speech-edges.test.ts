import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userContent } from '../../../core/index.ts';
import { LiveReporter } from '../live-reporter.ts';
import type { LiveConfig } from '../live-config.ts';
import { GEMINI_OUTPUT_AUDIO, GeminiProtocol } from './gemini-protocol.ts';

/** A conversation with a server of Gemini that has set up, and what was reported of it, in short. */
function converse(config: LiveConfig = {}): {
  readonly protocol: GeminiProtocol;
  readonly reported: string[];
} {
  const reported: string[] = [];
  const reporter = new LiveReporter(
    {
      onSignal: (signal) => reported.push('edge' in signal ? signal.edge : signal.kind),
      onMedia: () => {},
    },
    GEMINI_OUTPUT_AUDIO,
  );
  const host = { reporter, send: () => {}, ready: () => {}, refuse: () => {} };
  const protocol = new GeminiProtocol('gemini', 'live', { config }, host);
  protocol.receive({ setupComplete: {} });
  return { protocol, reported };
}

const heard = (text: string): object => ({ serverContent: { inputTranscription: { text } } });
const said = (text: string): object => ({ serverContent: { modelTurn: { parts: [{ text }] } } });
const complete = { serverContent: { turnComplete: true } };

test('without reports of the server, speech is from its first words to the reply', () => {
  const { protocol, reported } = converse();
  for (const message of [heard('How'), heard(' are you?'), said('Fine.'), complete])
    protocol.receive({ ...message });
  assert.deepEqual(reported, ['started', 'stopped', 'heard', 'begun', 'said', 'done']);
});

test('a reply to speech without a transcript has edges too', () => {
  const { protocol, reported } = converse({ inputAudioTranscription: null });
  protocol.receive({ ...said('Fine.') });
  assert.deepEqual(reported, ['started', 'stopped', 'begun']);
});

test('a reply to a message or a result is no reply to speech', () => {
  const { protocol, reported } = converse();
  protocol.command({ kind: 'text', content: userContent('Hi') });
  for (const message of [said('Hello.'), complete]) protocol.receive({ ...message });
  protocol.command({ kind: 'tool-result', results: [] });
  for (const message of [said('Done.'), complete]) protocol.receive({ ...message });
  assert.deepEqual(reported, ['begun', 'said', 'done', 'begun', 'said', 'done']);
});

test('words that arrive during the reply belong to the utterance before it', () => {
  const { protocol, reported } = converse();
  for (const message of [heard('How'), said('Fine'), heard(' are you?'), said('.'), complete])
    protocol.receive({ ...message });
  assert.deepEqual(
    reported.filter((one) => one === 'started' || one === 'stopped'),
    ['started', 'stopped'],
  );
});

test('speech takes the place of a message that has no reply yet', () => {
  const { protocol, reported } = converse();
  protocol.command({ kind: 'text', content: userContent('Hi') });
  for (const message of [heard('No, wait.'), said('I wait.'), complete])
    protocol.receive({ ...message });
  assert.deepEqual(reported, ['started', 'stopped', 'heard', 'begun', 'said', 'done']);
});

test('a turn of a model that stays silent is no reply, unless one was asked for', () => {
  const { protocol, reported } = converse();
  protocol.receive({ ...complete });
  assert.deepEqual(reported, []);
  protocol.command({ kind: 'respond' });
  protocol.receive({ ...complete });
  assert.deepEqual(reported, ['begun', 'done']);
});

test('edges that the server reports are not repeated', () => {
  const { protocol, reported } = converse();
  const edge = (voiceActivityType: string): object => ({ voiceActivity: { voiceActivityType } });
  // An unknown type is not one, also if every object has a member of its name.
  protocol.receive({ ...edge('constructor') });
  assert.deepEqual(reported, []);
  for (const message of [edge('ACTIVITY_START'), heard('Hi'), edge('ACTIVITY_END'), said('Hi.')])
    protocol.receive({ ...message });
  for (const message of [complete, heard(' there'), said('Yes?')]) protocol.receive({ ...message });
  assert.deepEqual(
    reported.filter((one) => one === 'started' || one === 'stopped'),
    ['started', 'stopped'],
  );
});

test('a client that detects speech itself knows its edges', () => {
  const { protocol, reported } = converse({
    realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
  });
  for (const message of [heard('Hi'), said('Hello.')]) protocol.receive({ ...message });
  assert.deepEqual(reported, ['heard', 'begun']);
});
