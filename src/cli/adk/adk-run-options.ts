/** The options of `adk run`: the flags of ADK that mean the same. */
export const adkRunOptions = {
  save_session: {
    type: 'boolean',
    summary: 'run: Save the session beside the agent at the end, as ID.session.json',
  },
  session_id: {
    type: 'string',
    value: 'ID',
    summary: 'run: The ID of --save_session. Default: asked for at the end',
  },
  resume: {
    type: 'string',
    value: 'FILE',
    summary: 'run: Show a session that --save_session wrote, and continue it',
  },
  replay: {
    type: 'string',
    value: 'FILE',
    summary: 'run: Send the messages of a JSON file: { "state": { … }, "queries": [ … ] }',
  },
  session_service_uri: {
    type: 'string',
    value: 'URI',
    summary:
      'Where sessions are kept: memory://, sqlite://…, postgres://…. Default of run: memory://',
  },
} as const;
