// SPDX-License-Identifier: MIT
// The search of the site runs in a worker. Browsers start none for pages that are opened from the disk: a frame runs its script
// then. Only pages with one language are searched so, as importScripts is not there. MkDocs finds the script by its name.
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement('iframe')
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', {data}))
      const script = frame.contentDocument.createElement('script')
      script.src = url
      this.loaded = new Promise((resolve) => { script.onload = resolve })
      frame.contentDocument.body.append(script)
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent('message', {data})))
    }
  }
}
