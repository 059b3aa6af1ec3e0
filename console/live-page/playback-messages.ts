/** Audio to be played after what is queued. */
export interface PlaybackChunk {
  readonly reply: string;
  /** The position of the first sample in the reply. */
  readonly fromMs: number;
  /** In the rate of the audio context. */
  readonly samples: Float32Array;
}

/** A message to the playback worklet. */
export type PlaybackCommand =
  | { readonly type: 'play'; readonly chunk: PlaybackChunk }
  | { readonly type: 'pause' | 'resume' | 'flush' };

/** A message of the playback worklet: how much of a reply was audible. */
export interface PlaybackReport {
  readonly type: 'played' | 'flushed';
  readonly reply: string;
  readonly playedMs: number;
}
