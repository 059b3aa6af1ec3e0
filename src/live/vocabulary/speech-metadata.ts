/** The custom metadata of a transcript in the conversation: the connection whose model has the speech itself. */
export const SPEECH_METADATA: string = 'live_connection';
