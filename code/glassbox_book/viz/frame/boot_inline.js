// Unpacks the scripts this output carries.
whenSeen(async () => {
  'use strict';
  try {
    const packed = document.getElementById('packed').textContent;
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    const script = document.createElement('script');
    script.textContent = await new Response(unpacked).text();
    document.head.append(script);
  } catch (error) {
    document.getElementById('note').textContent =
      `This browser could not unpack the view (${error}); its numbers are in the table below.`;
  }
});
