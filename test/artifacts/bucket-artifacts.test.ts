import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ArtifactService } from '../../src/tools/index.ts';
import { GcsArtifactService } from '../../src/tools/artifacts/gcs/index.ts';
import { artifactServiceContract } from '../../src/tools/contract/artifact-service-cases.ts';
import { fakeGcs } from './fake-gcs.ts';
import { S3ArtifactService, S3ObjectStore } from '../../src/tools/artifacts/s3/index.ts';
import type { FakeObjects } from './fake-objects.ts';
import { fakeS3 } from './fake-s3.ts';
import { fakeServer } from './fake-server.ts';

const bucketName = 'things';

const providers = [
  {
    name: 'S3ArtifactService',
    fake: fakeS3,
    open: (url: string): ArtifactService =>
      new S3ArtifactService({
        bucketName,
        prefix: 'adk/',
        config: {
          endpoint: url,
          region: 'eu-central-1',
          forcePathStyle: true,
          credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
        },
      }),
    uri: 's3://things/adk/shop/ada/sessions/s1/files/notes.txt/0',
  },
  {
    name: 'GcsArtifactService',
    fake: fakeGcs,
    open: (url: string): ArtifactService =>
      new GcsArtifactService({
        bucketName,
        prefix: 'adk/',
        config: { apiEndpoint: url, projectId: 'p' },
      }),
    uri: 'gs://things/adk/shop/ada/sessions/s1/files/notes.txt/0',
  },
];

for (const { name: service, fake, open, uri } of providers) {
  describe(service, () => {
    const withBucket = async (
      check: (artifacts: ArtifactService, objects: FakeObjects) => Promise<void>,
    ): Promise<void> => {
      const { objects, answer } = fake(bucketName);
      const server = await fakeServer(answer);
      try {
        await check(open(server.url), objects);
      } finally {
        await server.stop();
      }
    };

    for (const { name, check } of artifactServiceContract)
      it(name, async () => withBucket(async (artifacts) => check(artifacts)));

    it('an artifact is stored as an object with its content type at its canonical URI', async () =>
      withBucket(async (artifacts, objects) => {
        const session = { appName: 'shop', userId: 'ada', sessionId: 's1' };
        const key = { session, name: 'notes.txt' };
        await artifacts.save(key, { text: 'Hello' }, { saveId: '1' });
        assert.equal((await artifacts.describe(key))?.canonicalUri, uri);
        const object = objects.get(uri.slice(`s3://${bucketName}/`.length));
        assert.equal(object?.bytes.toString('utf8'), 'Hello');
        assert.equal(object.contentType, 'text/plain');
        assert.ok(objects.names().every((name) => name.startsWith('adk/')));
      }));
  });
}

it('an object that another writer creates meanwhile is tried again, and a conflict that does not end is an error', async () => {
  let conflicts = 0;
  const { objects, answer } = fakeS3(bucketName);
  const server = await fakeServer(async (request) =>
    conflicts-- > 0
      ? { status: 409, body: '<Error><Code>ConditionalRequestConflict</Code></Error>' }
      : answer(request),
  );
  try {
    const store = new S3ObjectStore({
      bucketName,
      config: {
        endpoint: server.url,
        region: 'eu-central-1',
        forcePathStyle: true,
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      },
    });
    const object = { bytes: Buffer.from('x'), contentType: 'text/plain', about: '{}' };
    conflicts = 3;
    assert.equal(await store.create('one', object), true);
    assert.equal(await store.create('one', object), false);
    conflicts = 100;
    await assert.rejects(store.create('two', object), { name: 'ConditionalRequestConflict' });
    assert.deepEqual(objects.names(), ['one']);
  } finally {
    await server.stop();
  }
});
