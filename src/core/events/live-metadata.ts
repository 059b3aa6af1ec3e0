/** The provider metadata of a message that was spoken: its text is the transcript of audio. */
export const AUDIBLE_METADATA = 'audible';
/** The provider metadata of a message that was cut: its text is what was heard. */
export const INTERRUPTED_METADATA = 'interrupted';
