import { onlyListedModules } from './listed-modules.ts';
import type { Rule } from './rules.ts';

/** The modules that construct the hosting of sessions, and why. */
export const SESSION_HOSTING: Readonly<Record<string, string>> = {
  'src/runtime/hosting/create-active-sessions.ts': 'the construction',
  'src/runtime/hosting/active-sessions.ts': 'opens the net of one session',
  'src/runtime/hosting/hosted-session.ts': 'drives the net of one session',
};

/** Session hosting is constructed in one place: every runtime claims, loads and drives sessions in the same way. */
export const onlyListedModulesHostSessions: (listed: Readonly<Record<string, string>>) => Rule =
  onlyListedModules({
    does: (code) => /\bnew (?:ActiveSessions|Driver)\(|\bHostedSession\.open\(/.test(code),
    what: 'hosts sessions',
    instead: 'use createActiveSessions or applyInbox of src/runtime/hosting/',
  });

/** The modules that name the places of a repeated model call, or retry an effect that calls a model, and why. */
export const MODEL_RETRY: Readonly<Record<string, string>> = {
  'src/agents/model/model-retry.ts': 'the implementation',
  'src/agents/vocabulary/model-call.ts': 'declares the places',
  'src/agents/model/model-step.ts': 'composes the retry with the call',
  'src/agents/model/fallback-model-step.ts': 'composes the retry with the calls of several models',
  'src/agents/llm/llm-agent-parts.ts': 'empties the places when a turn is stopped',
  'src/agents/agent/read-status.ts': 'reads that a call waits for its next attempt',
  'src/agents/proofs/agent-proof.ts': 'leaves repeated calls out of the proof of an agent',
  'src/agents/outcomes/outcome-rounds.ts':
    'the grader is not a model call of the turn: decision 43',
};

/** Model calls are retried in one place. */
export const onlyListedModulesRetryModelCalls: (listed: Readonly<Record<string, string>>) => Rule =
  onlyListedModules({
    does: (code) =>
      /\bmodel(?:Rescheduled|Tried)\b/.test(code) ||
      (/\.generate\(/.test(code) && /\bretry:/.test(code)),
    what: 'names the places of the model retry, or retries a model call',
    instead: 'use src/agents/model/model-retry.ts',
  });

/** The modules that ask where they are, and why. */
export const OWN_LOCATION: Readonly<Record<string, string>> = {
  'src/core/package/package-files.ts': 'the implementation',
  'src/tools/schema/linear-pattern.ts': 'loads a dependency synchronously',
};

/** The files of the package are found in one place: a built module is a part of another file. */
export const onlyListedModulesKnowWhereTheyAre: (listed: Readonly<Record<string, string>>) => Rule =
  onlyListedModules({
    does: (code) => /\bimport\.meta\b|\b__dirname\b/.test(code),
    what: 'uses its own location',
    instead: 'use packageFile or packageProgram of src/core/internal.ts',
  });
