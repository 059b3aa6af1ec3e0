import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseTemplate } from './parse-template.ts';

/** The placeholders of a template, as the template has them. */
function listPlaceholders(template: string): readonly string[] {
  return parseTemplate(template).flatMap((piece) =>
    piece.kind === 'text'
      ? []
      : `${piece.kind} ${piece.name}${piece.optional ? ' (may be missing)' : ''}`,
  );
}

test('a name in braces is a state key of any scope, or an artifact', () => {
  const template =
    'Hello {name}, {user:first_name?}. {app:motto} {temp:mood?} {artifact.notes.txt} {artifact.user:cv?} {artifact.my plan-b/v1.2 (é).md?} {_x9}';
  assert.deepEqual(listPlaceholders(template), [
    'state name',
    'state user:first_name (may be missing)',
    'state app:motto',
    'state temp:mood (may be missing)',
    'artifact notes.txt',
    'artifact user:cv (may be missing)',
    'artifact my plan-b/v1.2 (é).md (may be missing)',
    'state _x9',
  ]);
});

test('other braces are text', () => {
  const literal = [
    '{}',
    '{ name }',
    '{"key": "value"}',
    '{1}',
    '{a-b}',
    '{a b}',
    '{name??}',
    '{?}',
    '{other:name}',
    '{session:name}',
    '{user:}',
    '{user:a:b}',
    '{a.b}',
    '{artifact.}',
    '{artifact.a\nb}',
    '{naïve}',
    '{name',
    'name}',
    '${',
    '}{',
  ];
  for (const template of literal) {
    assert.deepEqual(parseTemplate(template), [{ kind: 'text', text: template }], template);
  }
});

test('extra braces around a placeholder are kept', () => {
  assert.deepEqual(parseTemplate('{{name}}{'), [
    { kind: 'text', text: '{' },
    { kind: 'state', name: 'name', optional: false },
    { kind: 'text', text: '}{' },
  ]);
});

test('parsing a template loses no text', () => {
  const bits = fc.constantFrom(
    '{',
    '}',
    '?',
    ':',
    '.',
    'user:',
    'artifact.',
    'name',
    ' ',
    '{a}',
    '{b?}',
  );
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 20 }), (parts) => {
      const template = parts.join('');
      const again = parseTemplate(template).map((piece) => {
        if (piece.kind === 'text') return piece.text;
        const prefix = piece.kind === 'artifact' ? 'artifact.' : '';
        return `{${prefix}${piece.name}${piece.optional ? '?' : ''}}`;
      });
      assert.equal(again.join(''), template);
    }),
  );
});
