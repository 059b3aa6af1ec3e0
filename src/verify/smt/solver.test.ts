import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SimulatedClock } from '../../net/index.ts';
import { anySolver, nativeZ3, npmZ3 } from './solver.ts';
import type { SolverAnswer } from './solver.ts';

const EASY = `(set-logic HORN)
(declare-fun Inv (Int) Bool)
(assert (Inv 0))
(assert (forall ((x Int)) (=> (and (Inv x) (< x 5)) (Inv (+ x 1)))))
(assert (forall ((x Int)) (=> (and (Inv x) (> x BOUND)) false)))
(check-sat)
`;
/** Needs a non-linear invariant, so the solver never ends. */
const HARD = `(set-logic HORN)
(declare-fun Inv (Int Int Int) Bool)
(assert (Inv 0 0 1))
(assert (forall ((x Int) (y Int) (z Int)) (=> (Inv x y z) (Inv (+ x 1) (+ y x) (+ z (* 3 y))))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (Inv x y z) (> x 9) (= (* 7 z) (* 5 y))) false)))
(check-sat)
`;

/** Needs more than a few megabytes of memory. */
const BIG = `(set-logic QF_LIA)
${Array.from({ length: 20_000 }, (_, n) => `(declare-fun x${n} () Int)(assert (> x${n} ${n}))`).join('\n')}
(check-sat)
`;

/** A busy machine starts a solver in a minute. */
const PATIENT = { timeoutMs: 3_600_000 };

const folder = mkdtempSync(join(tmpdir(), 'petrichor-solver-'));
after(() => rmSync(folder, { recursive: true }));

/** A program in place of z3 with the given behavior. */
function fakeSolver(name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

function getReason(answer: SolverAnswer): string {
  assert.equal(answer.answer, 'unknown');
  return answer.answer === 'unknown' ? answer.reason : '';
}

test('the npm solver answers sat and unsat from a separate process', async () => {
  const solver = npmZ3();
  const [yes, no] = await Promise.all([
    solver.ask(EASY.replace('BOUND', '5'), PATIENT),
    solver.ask(EASY.replace('BOUND', '4'), PATIENT),
  ]);
  assert.equal(yes.answer, 'sat');
  assert.equal(no.answer, 'unsat');
});

test('the result of a query that takes too long is unknown, with the reason', async () => {
  const reason = getReason(await npmZ3().ask(HARD, { timeoutMs: 1 }));
  assert.equal(reason, 'timed out after 1 ms');
});

test('the result is unknown, with the reason, when the solver runs out of memory', async () => {
  const reason = getReason(await npmZ3().ask(BIG, { memoryMb: 16, ...PATIENT }));
  assert.equal(reason, 'out of memory');
});

test('the result of a query that is not SMT-LIB is unknown, with the message of the solver', async () => {
  assert.match(getReason(await npmZ3().ask('(nonsense', PATIENT)), /error/);
});

test('the result is unknown, with the reason, when the solver is not found', async () => {
  const reason = getReason(await nativeZ3(join(folder, 'no-such-z3')).ask(EASY));
  assert.equal(reason, 'absent: native z3 was not found');
});

test('the result is unknown, with the reason, when the solver is killed', async () => {
  const reason = getReason(await nativeZ3(fakeSolver('killed', 'kill -9 $$')).ask(EASY));
  assert.equal(reason, 'killed by SIGKILL');
});

test('the result is unknown, with the reason, when the solver dies without output', async () => {
  const reason = getReason(await nativeZ3(fakeSolver('mute', 'exit 3')).ask(EASY));
  assert.equal(reason, 'ended with code 3 and no answer');
});

test('a solver that does not end is killed', async () => {
  const clock = new SimulatedClock();
  const solver = nativeZ3(fakeSolver('endless', 'exec sleep 600'), clock);
  const pendingAnswer = solver.ask(EASY, { timeoutMs: 60_000 });
  clock.advance(62_000);
  assert.equal(getReason(await pendingAnswer), 'timed out after 60000 ms');
});

test('the result is unknown, with the reason, when a native solver runs out of memory', async () => {
  const solver = nativeZ3(fakeSolver('full', `cat >/dev/null; echo '(error "out of memory")'`));
  assert.equal(getReason(await solver.ask(EASY)), 'out of memory');
});

test('anySolver uses an available solver', async () => {
  assert.equal((await anySolver().ask(EASY.replace('BOUND', '5'), PATIENT)).answer, 'sat');
});
