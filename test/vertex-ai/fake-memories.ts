import { canonicalJson, isJsonObject } from '../../src/core/index.ts';
import type { Json, JsonObject } from '../../src/core/index.ts';
import type { FakeAnswer } from '../artifacts/fake-server.ts';
import { failure, json } from './fake-answers.ts';

const GENERATE_MEMBERS =
  'allowedTopics directContentsSource directMemoriesSource disableConsolidation disableMemoryRevisions metadata metadataMergeStrategy revisionExpireTime revisionLabels revisionTtl scope vertexSessionSource'.split(
    ' ',
  );

interface FakeMemory {
  readonly name: string;
  readonly fact: string;
  readonly scope: JsonObject;
  readonly updateTime: string;
}

/**
 * The memories of an Agent Engine. In place of a model, each text becomes a fact. Consolidation keeps one memory for equal
 * facts of a scope; a search orders by the number of common words.
 */
export class FakeMemories {
  readonly all: FakeMemory[] = [];
  #ids = 0;

  answer(method: string, parent: string, rest: string, input: JsonObject): FakeAnswer {
    if (method !== 'POST') return failure(404, 'NOT_FOUND');
    if (rest === 'memories:retrieve') return this.#retrieve(input);
    if (rest === 'memories:generate') return this.#generate(parent, input);
    if (rest !== 'memories') return failure(404, 'NOT_FOUND');
    const { fact, scope } = input;
    if (typeof fact !== 'string' || !isJsonObject(scope)) return failure(400, 'INVALID_ARGUMENT');
    this.#keep(parent, fact, scope);
    return json(200, { name: `${parent}/operations/${this.#ids}` });
  }

  #generate(parent: string, input: JsonObject): FakeAnswer {
    const { scope, directContentsSource: contents, directMemoriesSource: memories } = input;
    const unknown = Object.keys(input).find((name) => !GENERATE_MEMBERS.includes(name));
    const facts = [
      ...list(contents, 'events').flatMap(({ content }) =>
        isJsonObject(content) ? list(content, 'parts').map(({ text }) => text) : [],
      ),
      ...list(memories, 'directMemories').map(({ fact }) => fact),
    ].filter((fact) => typeof fact === 'string');
    if (unknown !== undefined || !isJsonObject(scope) || facts.length === 0)
      return failure(400, 'INVALID_ARGUMENT');
    for (const fact of facts)
      if (!this.#find(scope).some((memory) => memory.fact === fact))
        this.#keep(parent, fact, scope);
    return json(200, { name: `${parent}/operations/${this.#ids}` });
  }

  #retrieve({ scope, similaritySearchParams: search }: JsonObject): FakeAnswer {
    const { searchQuery, topK = 3 } = isJsonObject(search) ? search : {};
    if (!isJsonObject(scope) || typeof searchQuery !== 'string' || typeof topK !== 'number')
      return failure(400, 'INVALID_ARGUMENT');
    const wanted = words(searchQuery);
    const retrievedMemories = this.#find(scope)
      .map((memory) => ({
        memory,
        distance: 1 / (1 + words(memory.fact).filter((word) => wanted.includes(word)).length),
      }))
      .filter(({ distance }) => distance < 1)
      .toSorted((a, b) => a.distance - b.distance)
      .slice(0, topK);
    return json(200, retrievedMemories.length === 0 ? {} : { retrievedMemories });
  }

  #find(scope: JsonObject): readonly FakeMemory[] {
    return this.all.filter((memory) => canonicalJson(memory.scope) === canonicalJson(scope));
  }

  #keep(parent: string, fact: string, scope: JsonObject): void {
    const updateTime = new Date(1_700_000_000_000 + ++this.#ids).toISOString();
    const name = `projects/1234567/locations/us-central1/${parent}/memories/${9000 + this.#ids}`;
    this.all.push({ name, fact, scope, updateTime });
  }
}

function list(value: Json | undefined, name: string): readonly JsonObject[] {
  const items = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(items) ? items.filter(isJsonObject) : [];
}

function words(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}
