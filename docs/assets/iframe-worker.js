// Browsers start no worker for a page that was opened as a file. A frame takes its place, so that the search works there.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.loaded = new Promise(done => {
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = () => done(inside)
        inside.document.body.append(script)
      })
    }
    postMessage(data) {
      this.loaded.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
