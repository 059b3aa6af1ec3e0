import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplyTranscript } from './reply-transcript.ts';

const long = 'x'.repeat(9_999);

test('text in progress is taken once, whether its final form arrives before or after', () => {
  const transcript = new ReplyTranscript();
  transcript.add('One ');
  assert.equal(transcript.take(), 'One ');
  transcript.add('two ');
  transcript.settle('One two ');
  assert.equal(transcript.take(), 'two ');
  transcript.add('three');
  transcript.settle('three');
  assert.equal(transcript.take(), 'three');
  assert.equal(transcript.length, 0);
});

test('final text of a beginning keeps what follows it', () => {
  for (const takesFirst of [false, true]) {
    const transcript = new ReplyTranscript();
    transcript.add(`${long} and more`);
    const taken = takesFirst ? [transcript.take()] : [];
    transcript.settle(`${long} `);
    transcript.add(' to say.');
    taken.push(transcript.take(), transcript.take());
    transcript.settle('and more to say.');
    taken.push(transcript.take());
    assert.equal(taken.join(''), `${long} and more to say.`);
  }
});

test('a final form that differs replaces what was not taken', () => {
  const transcript = new ReplyTranscript();
  transcript.add('Too dogs');
  transcript.settle('Two dogs.');
  assert.equal(transcript.take(), 'Two dogs.');
  transcript.add('Too ');
  assert.equal(transcript.take(), 'Too ');
  transcript.add('cats');
  transcript.settle('Two cats.');
  assert.equal(transcript.take(), 'cats');
});

test('a part fits into a signal and is never cut inside of a character', () => {
  const transcript = new ReplyTranscript();
  transcript.add(`${long}🦊.`);
  assert.equal(transcript.take(), long);
  assert.equal(transcript.take(), '🦊.');
  assert.equal(transcript.take(), '');
});
