import {
  createEventActions,
  formatSessionKey,
  newMessageId,
  toAdkSeconds,
} from '../../core/index.ts';
import type { Event, InvocationId, SessionKey } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { LIVE_RECORDING_PREFIX } from '../live/delete-live-recordings.ts';

/** Who is heard or seen in a recording. */
export type RecordedSpeaker = 'input_audio' | 'output_audio' | 'input_image';

interface Recording {
  readonly mimeType: string;
  readonly startedAt: number;
  readonly chunks: Uint8Array[];
}

/** Images are saved at most once a second. */
const IMAGE_INTERVAL_MS = 1_000;

/** Where recordings are saved. */
export interface LiveRecorderOptions {
  readonly artifacts: ArtifactService;
  readonly session: SessionKey;
  readonly clock: Clock;
}

/** Saves what is said and shown in a live session as artifacts: ADK's `saveLiveBlob`. */
export class LiveRecorder {
  readonly #options: LiveRecorderOptions;
  readonly #recordings = new Map<RecordedSpeaker, Recording>();
  #lastImageAt = -Infinity;

  constructor(options: LiveRecorderOptions) {
    this.#options = options;
  }

  /** Keeps a piece of audio, or an image, until `save`. */
  add(speaker: RecordedSpeaker, mimeType: string, bytes: Uint8Array): void {
    const now = this.#options.clock.now();
    if (speaker === 'input_image') {
      if (now - this.#lastImageAt < IMAGE_INTERVAL_MS) return;
      this.#lastImageAt = now;
      this.#recordings.set(speaker, { mimeType, startedAt: now, chunks: [bytes] });
      return;
    }
    const recording = this.#recordings.get(speaker) ?? { mimeType, startedAt: now, chunks: [] };
    recording.chunks.push(bytes);
    this.#recordings.set(speaker, recording);
  }

  /** Saves what was kept. Returns an event for each artifact. @throws errors of the artifact service */
  async save(
    invocationId: InvocationId,
    agentName: string,
  ): Promise<
    readonly { readonly event: Event; readonly name: string; readonly version: number }[]
  > {
    const { artifacts, session, clock } = this.#options;
    const recordings = [...this.#recordings];
    this.#recordings.clear();
    const saved = [];
    for (const [speaker, { mimeType, startedAt, chunks }] of recordings) {
      const [type = mimeType] = mimeType.split(';');
      const name = `${LIVE_RECORDING_PREFIX}${speaker}_${startedAt}.${type.split('/')[1] ?? 'bin'}`;
      const data = Buffer.concat(chunks).toString('base64');
      const part = { inlineData: { mimeType, data } };
      const version = await artifacts.save({ session, name }, part, { saveId: newMessageId() });
      const fileUri = `artifact://${formatSessionKey(session)}/_adk_live/${name}#${version}`;
      saved.push({
        name,
        version,
        event: {
          id: newMessageId(),
          timestamp: toAdkSeconds(clock.now()),
          invocationId,
          author: speaker === 'output_audio' ? agentName : 'user',
          content: {
            role: speaker === 'output_audio' ? ('model' as const) : ('user' as const),
            parts: [{ fileData: { fileUri, mimeType } }],
          },
          actions: createEventActions({ artifactDelta: { [name]: version } }),
        },
      });
    }
    return saved;
  }
}
