/** Exports of `adk/` for other folders of `src/`: what runs a live session without a runner. */

export { checkLiveRunConfig } from './contracts/live-run-config.ts';
export type { LiveRunConfig } from './contracts/live-run-config.ts';
export {
  LiveRequestQueue,
  isAudio,
  decodeBlob,
  readSampleRate,
} from './live/live-request-queue.ts';
export type { LiveRequest } from './live/live-request-queue.ts';
export { toPartialTextEvent } from './runner/invocation-stream.ts';
export { toTurnEndEvent } from './runner/live-events.ts';
export { LiveRecorder } from './runner/live-recorder.ts';
export { activeLiveSessions } from './live/active-live-sessions.ts';
export { LiveRun } from './runner/live-run.ts';
export type { LiveItem } from './runner/live-stream.ts';
export { fromAdkContent, toCamelKeys, toStoredRole } from './sessions/wire-content.ts';
export { toWireEvent } from './sessions/wire-event.ts';
