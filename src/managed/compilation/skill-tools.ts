import { tool } from '../../tools/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { Skill } from '../interface/tool-sources.ts';

/** The part of the instruction that lists the agent's skills, one line each. */
export function skillsText(skills: readonly Skill[]): readonly string[] {
  if (skills.length === 0) return [];
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`);
  return [
    `You have skills. Before you start a task that a skill covers, read the skill with read_skill:\n${lines.join('\n')}`,
  ];
}

/** The tools of the skills, and the tool that reads a skill. */
export function skillTools(skills: readonly Skill[]): readonly Tool[] {
  const read = tool({
    name: 'read_skill',
    description: 'Read the instructions of a skill.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', enum: skills.map(({ name }) => name) } },
      required: ['name'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: ({ name }) => ({
      instructions: skills.find((skill) => skill.name === name)?.instructions ?? '',
    }),
  });
  return [read, ...skills.flatMap(({ tools = [] }) => tools)];
}
