import os,time,threading
import subprocess
# two spinning processes: are they balanced?
ps=[subprocess.Popen(['python3','-c','import time;t=time.time()\nwhile time.time()-t<1.5: pass\nimport os;print(time.process_time())']) for _ in range(2)]
[p.wait() for p in ps]
