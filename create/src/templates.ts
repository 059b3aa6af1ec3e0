/** The projects that can be created: the folder of each in `templates`, and what it is. The first is the default. */
export const templates: Readonly<Record<string, string>> = {
  chat: 'An agent in the terminal. One of its tools waits for approval',
  'web-chat': 'A server with a chat page for the browser',
  workflow: 'A graph of functions and agents, with routes and a join',
  adk: "Agents under the names of Google's Agent Development Kit",
  served: 'Agents as data, served over HTTP, with tools from code',
};

export const defaultTemplate = 'chat';
