import { LiveHub, liveAgent } from '../../src/live/index.ts';
import type { LiveConfig, LiveHubOptions, LiveModel } from '../../src/live/index.ts';
import { ScriptedLive } from '../../src/live/models/scripted/scripted-live.ts';
import type { LiveScript } from '../../src/live/models/scripted/scripted-live-turn.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { SimulatedCall } from './simulated-call.ts';

/** A call with a scripted model. */
export interface Talk extends AsyncDisposable {
  readonly call: SimulatedCall;
  readonly clock: SimulatedClock;
  readonly hub: LiveHub;
  readonly live: ScriptedLive;
  readonly runtime: Runtime;
  readonly store: MemoryStore;
}

/** Begins a call with a scripted model. */
export async function talk(
  script: LiveScript,
  tools: readonly Tool[] = [],
  config: LiveConfig = {},
  options: LiveHubOptions = {},
  wrap: (live: ScriptedLive) => LiveModel = (live) => live,
): Promise<Talk> {
  const clock = new SimulatedClock();
  const live = new ScriptedLive(script, { clock });
  const hub = new LiveHub(options);
  const store = new MemoryStore();
  const textModel = new ScriptedModel((request) => ({
    text: `I have ${request.contents.length} messages.`,
  }));
  const runtime = await openRuntime({
    agents: [liveAgent({ name: 'assistant', model: wrap(live), textModel, tools, config })],
    clock,
    store,
    live: hub,
  });
  const call = await SimulatedCall.begin(hub, await runtime.session('demo'), clock);
  return {
    call,
    clock,
    hub,
    live,
    runtime,
    store,
    [Symbol.asyncDispose]: async () => runtime.close(),
  };
}
