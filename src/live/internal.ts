/** Exports of `live/` for other folders of `src/`. */

export { liveNet } from './agent/live-net.ts';
export { withConnections } from './agent/live-agent.ts';
export { liveTextModel } from './agent/live-text-model.ts';
export { createLink, SpeakerPorts } from './agent/speaker-ports.ts';
export { whileNotLinked } from './agent/while-not-linked.ts';
export { replyDiscardable } from './duplex/reply.ts';
export type { LinkNet } from './link/link-net.ts';
export { LIVE_CONFIG } from './models/live-config.ts';
export { linkCalled, linkStart } from './vocabulary/link-places.ts';
export { InputQueue } from './hub/input-queue.ts';
export type { ClientEdge } from './hub/input-queue.ts';
