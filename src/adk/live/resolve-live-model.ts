import { geminiLive, openaiRealtime } from '../../live/index.ts';
import type { LiveModel } from '../../live/index.ts';
import type { Model } from '../../models/index.ts';

/** True for a live model, as opposed to a model for text turns. */
export function isLiveModel(model: Model | LiveModel | string): model is LiveModel {
  return typeof model === 'object' && 'open' in model;
}

/** The live model of a name such as `gemini-live-2.5-flash` or `gpt-realtime`; undefined for any other name. */
export function resolveLiveModel(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): LiveModel | undefined {
  if (/^gemini-.*(?:live|native-audio)/.test(name)) return geminiLive({ model: name, env });
  return /^gpt-(?:\d[\w.]*-)*realtime/.test(name)
    ? openaiRealtime({ model: name, env })
    : undefined;
}
