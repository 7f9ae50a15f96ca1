// SPDX-License-Identifier: MIT
// sharp behind fastify: POST /blur?sigma=S with a JPEG or PNG. optimise=0: without mozjpeg's optimised
// Huffman tables; filter=1: PNG rows are filtered; format: jpeg, png, webp or avif (with chroma of half the
// size, as blurd's answers have), with quality.
// POST /redact?region=X,Y,W,H with a PNG: a black box.
// POST /resize?width=W&load=L: Lanczos; load=0: without shrinking while JPEGs are decoded.
// Environment: PORT; PROCS: processes of a cluster; CONC: threads of libvips for one picture.
'use strict';
const cluster = require('node:cluster');
const processes = Number(process.env.PROCS || 1);

function start() {
  const sharp = require('sharp');
  if (process.env.CONC) sharp.concurrency(Number(process.env.CONC));
  const app = require('fastify')({ bodyLimit: 64 * 1024 * 1024, logger: false });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => done(null, body));
  app.post('/blur', async (request, reply) => {
    const { sigma, optimise, filter, format, quality } = request.query;
    const png = format ? format === 'png' : request.body[0] === 0x89;
    const blurred = sharp(request.body).blur(Number(sigma || 1.5));
    if (format === 'webp' || format === 'avif') {
      reply.type('image/' + format);
      const chroma = format === 'avif' ? { chromaSubsampling: '4:2:0' } : {};
      return blurred.toFormat(format, { ...(quality && { quality: Number(quality) }), ...chroma }).toBuffer();
    }
    const output = png
      ? blurred.png({ compressionLevel: 6, adaptiveFiltering: filter === '1' })
      : blurred.jpeg({ quality: 85, optimiseCoding: optimise !== '0' });
    reply.type(png ? 'image/png' : 'image/jpeg');
    return output.toBuffer();
  });
  app.post('/resize', async (request, reply) => {
    const { width, load, format } = request.query;
    const png = format ? format === 'png' : request.body[0] === 0x89;
    const resized = sharp(request.body).resize({ width: Number(width), kernel: 'lanczos3', fastShrinkOnLoad: load !== '0' });
    reply.type(png ? 'image/png' : 'image/jpeg');
    return (png ? resized.png({ compressionLevel: 6 }) : resized.jpeg({ quality: 85 })).toBuffer();
  });
  app.post('/redact', async (request, reply) => {
    const [left, top, width, height] = request.query.region.split(',').map(Number);
    const box = { create: { width, height, channels: 3, background: 'black' } };
    const redacted = sharp(request.body).composite([{ input: box, left, top }]);
    reply.type('image/png');
    return (request.body[25] & 4 ? redacted : redacted.removeAlpha()).png({ compressionLevel: 6 }).toBuffer();
  });
  app.get('/livez', async () => `sharp ${sharp.versions.sharp}, libvips ${sharp.versions.vips}, ` +
    `fastify ${app.version}, Node ${process.versions.node}`);
  app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
}

if (processes > 1 && cluster.isPrimary) {
  for (let i = 0; i < processes; i++) cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.kill('SIGTERM');
    process.exit(0);
  });
} else {
  start();
}
