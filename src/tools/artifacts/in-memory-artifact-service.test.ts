import { test } from 'node:test';
import { artifactServiceContract } from '../contract/artifact-service-cases.ts';
import { InMemoryArtifactService } from './in-memory-artifact-service.ts';

for (const { name, check } of artifactServiceContract)
  test(`InMemoryArtifactService: ${name}`, async () => check(new InMemoryArtifactService()));
